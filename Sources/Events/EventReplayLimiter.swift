package import EventStreams
internal import Locks

/// Limits the replays at a time, because each holds a piece in memory and reads the disk; of the others, clients take turns.
///
/// As many wait as streams and requests are open: a replay whose client has disconnected leaves the queue.
package final class EventReplayLimiter: Sendable {
  /// Begins a replay; false if its client has disconnected.
  package typealias Start = @Sendable () -> Bool
  /// Identifies a replay that waits.
  package typealias Ticket = ClientQueue<Start>.Ticket

  /// Replays at a time.
  package static let limit = 8

  private struct State {
    var running = 0
    // The limits of streams and connections apply.
    var waiting = ClientQueue<Start>(limit: .max, clientLimit: .max)
  }

  private let state = Locked(State())

  package var waiting: Int { state.withLock(\.waiting.count) }

  /// Calls a closure now or when another replay has ended; ``release()`` must follow if it begins.
  ///
  /// - Returns: the ticket to cancel it while it waits.
  package func admit(_ client: String, _ start: @escaping Start) -> Ticket? {
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

  package func cancel(_ ticket: Ticket) {
    // Released outside the lock: the closure may have the last reference to another replay.
    _ = state.withLock { $0.waiting.remove(ticket) }
  }

  package func release() {
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
