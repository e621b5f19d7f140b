/// A NATS subject of the fleet.
public enum FleetSubject: Hashable, Sendable, CustomStringConvertible {
  /// Transitions and bases (complete states) of an agent; only that agent publishes on it.
  case events(String)
  /// Starts and ends of an agent or a replica.
  case node(String)
  /// Verdicts of a target.
  case verdict(String)
  /// Definitions of a target.
  case target(String)
  /// The position of a webhook; only replicas publish on it.
  case hook(String)
  /// Heartbeats of an agent; not stored.
  case heartbeat(String)
  /// Requests to an agent; not stored.
  case ask(String)

  /// The name of the JetStream stream that stores the messages.
  public static let stream = "RX"
  /// The subjects of the stream.
  public static let stored = ["rx.ev.*", "rx.node.*", "rx.verdict.*", "rx.target.*", "rx.hook.*"]
  /// The subjects that agents consume: nodes and definitions.
  public static let roster = ["rx.node.*", "rx.target.*"]
  /// The heartbeats of all agents.
  public static let heartbeats = "rx.hb.*"

  /// The subject as text, such as `rx.ev.node7`; a dot in an id is written as `=2e`.
  public var description: String {
    switch self {
    case .events(let id): "rx.ev.\(Self.token(id))"
    case .node(let id): "rx.node.\(Self.token(id))"
    case .verdict(let id): "rx.verdict.\(Self.token(id))"
    case .target(let id): "rx.target.\(Self.token(id))"
    case .hook(let id): "rx.hook.\(Self.token(id))"
    case .heartbeat(let id): "rx.hb.\(Self.token(id))"
    case .ask(let id): "rx.ask.\(Self.token(id))"
    }
  }

  /// The id of the agent, node or target.
  public var id: String {
    switch self {
    case .events(let id), .node(let id), .verdict(let id), .target(let id), .hook(let id), .heartbeat(let id),
      .ask(let id):
      id
    }
  }

  /// Parses ``description``; nil for any other text.
  public init?(_ text: String) {
    let tokens = text.split(separator: ".", omittingEmptySubsequences: false)
    guard tokens.count == 3, tokens[0] == "rx", let id = Self.id(tokens[2]) else { return nil }
    switch tokens[1] {
    case "ev": self = .events(id)
    case "node": self = .node(id)
    case "verdict": self = .verdict(id)
    case "target": self = .target(id)
    case "hook": self = .hook(id)
    case "hb": self = .heartbeat(id)
    case "ask": self = .ask(id)
    default: return nil
    }
  }

  /// The subject's id as one token.
  ///
  /// Ids consist of a-z, 0-9, dot, underscore and hyphen. A dot would separate tokens; `=` is not in any id.
  private static func token(_ id: String) -> String {
    id.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "=2e")
  }

  private static func id(_ token: Substring) -> String? {
    guard !token.isEmpty else { return nil }
    let parts = token.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.dropFirst().allSatisfy({ $0.hasPrefix("2e") }) else { return nil }
    return parts.dropFirst().reduce(String(parts[0])) { "\($0).\($1.dropFirst(2))" }
  }
}
