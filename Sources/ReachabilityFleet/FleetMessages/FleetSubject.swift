/// A NATS subject of the fleet.
///
/// Agents publish on ``request(_:)`` and ``heartbeat(_:)`` with their own id only. Only replicas publish on the subjects of
/// the stream (ADR 60).
public enum FleetSubject: Hashable, Sendable, CustomStringConvertible {
  /// Transitions and bases (complete states) of an agent.
  case events(String)
  /// Starts and ends of an agent or a replica.
  case node(String)
  /// Verdicts of a target.
  case verdict(String)
  /// Definitions of a target.
  case target(String)
  /// The position of a webhook.
  case hook(String)
  /// Requests of an agent to a replica; not stored.
  case request(String)
  /// Heartbeats of an agent or a replica; not stored.
  case heartbeat(String)
  /// Requests of a replica to an agent; not stored.
  case ask(String)
  /// A replica's hint that what an agent checks has changed; not stored.
  case changed(String)

  /// The name of the JetStream stream that stores the messages.
  public static let stream = "RX2"
  /// The subjects of the stream.
  public static let stored = ["rx2.ev.*", "rx2.verdict.*", "rx2.roster.node.*", "rx2.roster.target.*", "rx2.hook.*"]
  /// The requests of all agents.
  public static let requests = "rx2.in.*"
  /// The heartbeats of all agents and replicas.
  public static let heartbeats = "rx2.hb.*"

  /// The kind, as the tokens between the first and the id.
  private enum Kind: String, CaseIterable {
    case ev, verdict, hook, hb, ask, new
    case node = "roster.node"
    case target = "roster.target"
    case request = "in"
  }

  private var parts: (kind: Kind, id: String) {
    switch self {
    case .events(let id): (.ev, id)
    case .node(let id): (.node, id)
    case .verdict(let id): (.verdict, id)
    case .target(let id): (.target, id)
    case .hook(let id): (.hook, id)
    case .request(let id): (.request, id)
    case .heartbeat(let id): (.hb, id)
    case .ask(let id): (.ask, id)
    case .changed(let id): (.new, id)
    }
  }

  /// The subject as text, such as `rx2.ev.node7`; a dot in an id is written as `=2e`.
  public var description: String { "rx2.\(parts.kind.rawValue).\(Self.token(parts.id))" }

  /// Parses ``description``; nil for any other text.
  public init?(_ text: String) {
    let tokens = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (3...4).contains(tokens.count), tokens[0] == "rx2", let last = tokens.last, let id = Self.id(last),
      let kind = Kind(rawValue: tokens.dropFirst().dropLast().joined(separator: "."))
    else { return nil }
    switch kind {
    case .ev: self = .events(id)
    case .node: self = .node(id)
    case .verdict: self = .verdict(id)
    case .target: self = .target(id)
    case .hook: self = .hook(id)
    case .request: self = .request(id)
    case .hb: self = .heartbeat(id)
    case .ask: self = .ask(id)
    case .new: self = .changed(id)
    }
  }

  /// An id as one token of a subject.
  ///
  /// Ids consist of a-z, 0-9, dot, underscore and hyphen. A dot would separate tokens; `=` is not in any id.
  public static func token(_ id: String) -> String {
    id.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "=2e")
  }

  private static func id(_ token: Substring) -> String? {
    guard !token.isEmpty else { return nil }
    let parts = token.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.dropFirst().allSatisfy({ $0.hasPrefix("2e") }) else { return nil }
    return parts.dropFirst().reduce(String(parts[0])) { "\($0).\($1.dropFirst(2))" }
  }
}
