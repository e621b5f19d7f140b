internal import DequeModule
internal import Locks

/// Limits the replays at a time, because each holds a piece in memory and reads the disk; others wait in order.
///
/// As many wait as streams and requests are open: a replay whose client has disconnected leaves the queue.
final class EventReplayLimiter: Sendable {
  /// Begins a replay; false if its client has disconnected.
  typealias Start = @Sendable () -> Bool

  /// Replays at a time.
  static let limit = 8
  /// Cancelled places in the queue, besides as many as are taken, before they are removed.
  private static let cancelledPlaces = 64

  private struct State {
    var running = 0
    var lastTicket: UInt64 = 0
    /// The tickets in order; those without an entry in ``starts`` are cancelled.
    var order: Deque<UInt64> = []
    var starts: [UInt64: Start] = [:]
  }

  private let state = Locked(State())

  /// The number of replays that wait.
  var waiting: Int { state.withLock(\.starts.count) }

  /// Calls a closure now or when another replay has ended; ``release()`` must follow if it begins.
  ///
  /// - Returns: the ticket to cancel it while it waits.
  func admit(_ start: @escaping Start) -> UInt64? {
    let ticket = state.withLock { state -> UInt64? in
      guard state.running >= Self.limit else {
        state.running += 1
        return nil
      }
      state.lastTicket += 1
      state.order.append(state.lastTicket)
      state.starts[state.lastTicket] = start
      return state.lastTicket
    }
    if ticket == nil, !start() { release() }
    return ticket
  }

  /// Removes a replay that waits.
  func cancel(_ ticket: UInt64) {
    // Released outside the lock: the closure may have the last reference to another replay.
    let cancelled = state.withLock { state in
      let start = state.starts.removeValue(forKey: ticket)
      if state.order.count > 2 * state.starts.count + Self.cancelledPlaces {
        state.order.removeAll { state.starts[$0] == nil }
      }
      return start
    }
    _ = cancelled
  }

  /// Ends a replay.
  func release() {
    while let start = next() {
      if start() { return }
    }
  }

  /// The next replay, which takes the place of the one that has ended; nil if none waits.
  private func next() -> Start? {
    state.withLock { state in
      while let ticket = state.order.popFirst() {
        if let start = state.starts.removeValue(forKey: ticket) { return start }
      }
      state.running -= 1
      return nil
    }
  }
}
