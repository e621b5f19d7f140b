/// An agent or a replica as the stream describes it.
public struct FleetFoldedNode: Sendable {
  /// Its attributes; nil when the stream has only its events.
  public internal(set) var hello: NodeHello?
  /// The stream sequence of its last `hello`.
  public internal(set) var helloSequence: UInt64 = 0
  /// When the engine stored its last `hello`, in nanoseconds since 1970.
  public internal(set) var helloTime: Int64 = 0
  /// Whether it takes part.
  public internal(set) var state = FleetNodeState.present
  /// When it entered the state, in nanoseconds since 1970.
  public internal(set) var since: Int64 = 0
  /// The last report about each target.
  public internal(set) var cells: [String: FleetCellState] = [:]
  /// Whether its cells may be out of date: it was lost, or has another store, and its base has not arrived.
  public internal(set) var awaitsBase = false
  /// Whether this fold has a base of it, so that its cells are complete.
  var hasBase = false
  /// The identity of its store.
  public internal(set) var epoch: String?
  /// The number up to which its events are known; nil before the first message of its epoch.
  public internal(set) var highWater: UInt64?
  /// How often events were missing.
  public internal(set) var holes = 0
  var parts: [FleetBasePart] = []

  /// Whether targets can be assigned to it.
  public var isAgent: Bool { hello?.role == .agent && state != .left }
  /// Whether its cells are votes.
  public var votes: Bool { state != .lost && !awaitsBase }

  /// As an agent that may check targets; nil for others.
  func candidate(_ id: String) -> FleetAssignment.Candidate? {
    guard isAgent, let hello else { return nil }
    return FleetAssignment.Candidate(id: id, zone: hello.zone, labels: hello.labels, isPresent: state == .present)
  }

  /// What it says about a target; nil before its first result.
  public func vote(_ target: String) -> FleetCellState? {
    guard let cell = cells[target] else { return nil }
    return votes ? cell : cell.silenced()
  }

  /// Collects the parts of a base; returns it when it is complete.
  mutating func add(_ part: FleetBasePart) -> [FleetBaseCell]? {
    if part.part == 1 { parts = [] }
    guard part.of <= FleetLimits.baseParts, part.part == parts.count + 1,
      parts.allSatisfy({ $0.number == part.number && $0.of == part.of })
    else {
      parts = []
      return nil
    }
    parts.append(part)
    guard parts.count == part.of else { return nil }
    defer { parts = [] }
    return parts.flatMap(\.cells)
  }
}
