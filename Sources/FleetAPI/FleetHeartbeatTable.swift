internal import Locks
internal import ReachabilityFleet

/// The last heartbeat of each node.
///
/// The engine's thread writes it, so that heartbeats do not wait for the fold, nor the fold for them: it takes the times of
/// those that arrived since, before each input. An agent without news sends the same bytes, which are read once.
final class FleetHeartbeatTable: Sendable {
  /// The nodes of which heartbeats are kept: those of the largest fleet, and as many that the stream does not have yet.
  ///
  /// Heartbeats of others are dropped.
  static let limit = 20_000
  /// Heartbeats that name suspects and wait for the fold; others are dropped: the agents' own checks come later.
  static let waitingSuspicions = 256

  private struct Entry: Sendable {
    var payload: [UInt8]
    var heartbeat: HeartbeatMessage
  }

  private struct State: Sendable {
    /// By subject, which the engine's permissions bind to the node.
    var entries: [String: Entry] = [:]
    var arrived: [String: Duration] = [:]
    var suspicions = 0
    var dropped: UInt64 = 0
  }

  private let state = Locked(State())
  private let limit: Int

  init(limit: Int = FleetHeartbeatTable.limit) { self.limit = limit }

  /// Adds a heartbeat.
  ///
  /// - Returns: the message if it names suspects that the fold has to know; ``endSuspicion()`` has to follow.
  func receive(_ message: FleetEngineUnstoredMessage, at now: Duration) -> HeartbeatMessage? {
    guard message.payload.count <= FleetLimits.heartbeatBytes else {
      state.withLock { $0.dropped += 1 }
      return nil
    }
    let isKnown = state.withLock { state in
      guard let entry = state.entries[message.subject], entry.payload == message.payload,
        entry.heartbeat.suspects.isEmpty
      else { return false }
      state.arrived[entry.heartbeat.agent] = now
      return true
    }
    if isKnown { return nil }
    guard let heartbeat = FleetWire.heartbeat(message.payload),
      message.subject == "\(FleetSubject.heartbeat(heartbeat.agent))"
    else { return nil }
    return state.withLock { state in
      guard state.entries[message.subject] != nil || state.entries.count < limit else {
        state.dropped += 1
        return nil
      }
      state.entries[message.subject] = Entry(payload: message.payload, heartbeat: heartbeat)
      state.arrived[heartbeat.agent] = now
      guard !heartbeat.suspects.isEmpty else { return nil }
      guard state.suspicions < Self.waitingSuspicions else {
        state.dropped += 1
        return nil
      }
      state.suspicions += 1
      return heartbeat
    }
  }

  /// The fold knows the suspects of a heartbeat.
  func endSuspicion() { state.withLock { $0.suspicions -= 1 } }

  /// The times of the heartbeats that arrived since the last call, by node.
  func takeArrived() -> [String: Duration] {
    state.withLock { state in
      guard !state.arrived.isEmpty else { return [:] }
      defer { state.arrived = [:] }
      return state.arrived
    }
  }

  /// Discards the heartbeats of nodes that the stream does not have.
  func discard(except nodes: (String) -> Bool) {
    state.withLock { state in state.entries = state.entries.filter { nodes($0.value.heartbeat.agent) } }
  }

  var count: Int { state.withLock(\.entries.count) }

  /// The heartbeats that were dropped because too many waited, of too many nodes, or because they were too long.
  var dropped: UInt64 { state.withLock(\.dropped) }

  /// The events of an agent that waited for the engine at its last heartbeat; nil before it.
  func outbox(of agent: String) -> Int? {
    let subject = "\(FleetSubject.heartbeat(agent))"
    return state.withLock { $0.entries[subject]?.heartbeat.outbox }
  }
}
