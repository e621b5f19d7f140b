/// An event of the fleet: its id and content follow from the stream alone.
public struct FleetEvent: Hashable, Sendable {
  /// The id.
  public var id: FleetEventID
  /// When the engine stored its message, in nanoseconds since 1970; for display only.
  public var time: Int64
  /// What happened.
  public var content: Content

  /// Creates an event.
  public init(id: FleetEventID, time: Int64, content: Content) {
    self.id = id
    self.time = time
    self.content = content
  }

  /// What happened.
  public enum Content: Hashable, Sendable {
    /// An agent or a replica began, ended or was silent; for an agent, this includes all its cells. The attributes
    /// are present when it began.
    case node(String, FleetNodeState, NodeHello?)
    /// A target's state at one agent changed.
    case cell(agent: String, epoch: String, FleetCellChange)
    /// The verdict of a target changed.
    case verdict(VerdictMessage)
    /// A target was defined, changed or deleted.
    case definition(DefinitionMessage)
    /// Events of an agent are missing: they did not reach the stream, or were published before and the stream has lost
    /// them since. A subscriber may have had the latter.
    case gap(agent: String, after: UInt64, before: UInt64)
  }
}

/// Whether a node takes part.
public enum FleetNodeState: String, Hashable, Sendable, CaseIterable {
  /// Its heartbeats arrive.
  case present
  /// No heartbeat arrived for some seconds.
  case lost
  /// It ended in order.
  case left
}

extension FleetEvent.Content {
  /// The hash of the event's origin, and of the time at which the engine stored it: a stream that lost its end may get
  /// the same event at the same place again, after other ones.
  func check(time: Int64) -> UInt32 {
    var hash = FleetHash()
    hash.add(UInt64(bitPattern: time))
    switch self {
    case .node(let id, let state, let hello):
      hash.add("node")
      hash.add(id)
      hash.add(state.rawValue)
      hash.add(hello?.version ?? "")
    case .cell(let agent, let epoch, let change):
      hash.add("cell")
      hash.add(agent)
      hash.add(epoch)
      hash.add(change.number)
    case .verdict(let verdict):
      hash.add("verdict")
      hash.add(verdict.target)
      hash.add(verdict.to.rawValue)
      hash.add(verdict.basis)
      hash.add(verdict.by)
    case .definition(let message):
      hash.add("definition")
      hash.add(message.id)
      hash.add(message.version)
    case .gap(let agent, let after, let before):
      hash.add("gap")
      hash.add(agent)
      hash.add(after)
      hash.add(before)
    }
    return UInt32(truncatingIfNeeded: hash.value)
  }
}
