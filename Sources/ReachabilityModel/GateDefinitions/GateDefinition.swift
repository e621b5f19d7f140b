/// A gate: what a program needs before it can work, as one condition over this machine and registered targets.
///
/// ``GateSpec/definition(except:)`` creates valid ones.
public struct GateDefinition: Hashable, Sendable {
  /// The name, of the same form as a target's.
  public var id: String
  /// What is required of this machine; nil for nothing.
  public var machine: MachineCondition?
  /// The ids of targets each of which is required.
  public var targets: Set<String>
  /// The labels of further targets, of which ``atLeast`` are required; empty for none.
  public var selection: [String: String]
  /// Whether the selection includes targets that clients have registered.
  public var includesClients: Bool
  /// How many of the selected targets are required.
  public var atLeast: Quorum
  /// How long all conditions must hold without interruption before the gate opens.
  public var openAfter: Duration
  /// Whether paused targets are left out; otherwise they are missing.
  public var ignoresPaused: Bool

  /// Creates a definition from its parts, which are not validated.
  public init(
    id: String, machine: MachineCondition? = nil, targets: Set<String> = [], selection: [String: String] = [:],
    includesClients: Bool = false, atLeast: Quorum = .all, openAfter: Duration = .zero, ignoresPaused: Bool = false
  ) {
    self.id = id
    self.machine = machine
    self.targets = targets
    self.selection = selection
    self.includesClients = includesClients
    self.atLeast = atLeast
    self.openAfter = openAfter
    self.ignoresPaused = ignoresPaused
  }

  /// What a gate requires of this machine.
  public enum MachineCondition: Hashable, Sendable {
    /// Any usable default path.
    case reachable
    /// One over this kind of connection.
    case connectionType(ReachabilityStatus.ConnectionType)

    /// Whether a status fulfils the condition.
    public func isFulfilled(by status: ReachabilityStatus) -> Bool {
      switch self {
      case .reachable: status.isReachable
      case .connectionType(let type): status.connectionType == type
      }
    }
  }

  /// How many of the selected targets are required.
  public enum Quorum: Hashable, Sendable, CustomStringConvertible {
    /// Each of them.
    case all
    /// This number, at least 1.
    case count(Int)
    /// A share in hundredths of a percent, 1 to 10,000; of a number of targets, it is rounded up.
    case share(Int)

    /// Creates the quorum that a text describes: `all`, `2`, `50%`, `33.33%`; nil for any other text.
    public init?(_ text: String) {
      if text == "all" {
        self = .all
      } else if text.hasSuffix("%") {
        let parts = text.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let decimals = parts.count > 1 ? String(parts[1]) : "0"
        guard let first = parts.first, Self.isNumber(first), Self.isNumber(decimals[...]), decimals.utf8.count <= 2,
          let whole = Int(first), let hundredths = Int(decimals.utf8.count == 1 ? decimals + "0" : decimals),
          (0...100).contains(whole), (1...10_000).contains(whole * 100 + hundredths)
        else { return nil }
        self = .share(whole * 100 + hundredths)
      } else {
        guard Self.isNumber(text[...]), let count = Int(text), count >= 1 else { return nil }
        self = .count(count)
      }
    }

    private static func isNumber(_ text: Substring) -> Bool {
      (1...9).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// The number of targets that are required of a total.
    public func needed(of total: Int) -> Int {
      switch self {
      case .all: total
      case .count(let count): count
      case .share(let share): (share * total + 9_999) / 10_000
      }
    }

    /// The text of which it is created.
    public var description: String {
      switch self {
      case .all: return "all"
      case .count(let count): return "\(count)"
      case .share(let share):
        let decimals = share % 100
        guard decimals > 0 else { return "\(share / 100)%" }
        return "\(share / 100).\(decimals < 10 ? "0" : "")\(decimals % 10 == 0 ? decimals / 10 : decimals)%"
      }
    }
  }
}
