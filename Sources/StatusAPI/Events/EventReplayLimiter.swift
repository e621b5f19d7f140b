internal import HTTPRouting
internal import Locks

/// Limits the replays at a time, because each holds a piece in memory and reads the disk; of the others, clients take turns.
///
/// As many wait as streams and requests are open: a replay whose client has disconnected leaves the queue.
final class EventReplayLimiter: Sendable {
  /// Begins a replay; false if its client has disconnected.
  typealias Start = @Sendable () -> Bool
  /// Identifies a replay that waits.
  typealias Ticket = ClientQueue<Start>.Ticket

  /// Replays at a time.
  static let limit = 8

  private struct State {
    var running = 0
    // The limits of streams and connections apply.
    var waiting = ClientQueue<Start>(limit: .max, clientLimit: .max)
  }

  private let state = Locked(State())

  /// The number of replays that wait.
  var waiting: Int { state.withLock(\.waiting.count) }

  /// Calls a closure now or when another replay has ended; ``release()`` must follow if it begins.
  ///
  /// - Returns: the ticket to cancel it while it waits.
  func admit(_ client: String, _ start: @escaping Start) -> Ticket? {
    let ticket = state.withLock { state -> Ticket? in
      guard state.running >= Self.limit, case .added(let ticket, _) = state.waiting.add(start, of: client) else {
        state.running += 1
        return nil
      }
      return ticket
    }
    if ticket == nil, !start() { release() }
    return ticket
  }

  /// Removes a replay that waits.
  func cancel(_ ticket: Ticket) {
    // Released outside the lock: the closure may have the last reference to another replay.
    let cancelled = state.withLock { $0.waiting.remove(ticket) }
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
      if let start = state.waiting.popNext() { return start }
      state.running -= 1
      return nil
    }
  }
}
