internal import Locks
internal import MicroHTTP

/// Requests that wait for news of one resource: each is an entry here, and holds no thread.
///
/// Whoever waits is tried again at every call; what it answers is its own affair.
final class WaitingRoom: Sendable {
  /// Answers its request if there is news by now; false to wait on.
  typealias Attempt = @Sendable () -> Bool

  private struct State {
    var last = 0
    var waiting: [Int: Attempt] = [:]
  }

  private let state = Locked(State())

  /// How many wait.
  var count: Int { state.withLock { $0.waiting.count } }

  /// Has a request wait, unless there is news already.
  ///
  /// - Returns: the number by which it leaves.
  func enter(_ attempt: @escaping Attempt) -> Int {
    let number = state.withLock { state in
      state.last += 1
      state.waiting[state.last] = attempt
      return state.last
    }
    // Once more, now that no call can pass it by.
    if attempt() { leave(number) }
    return number
  }

  /// The request waits no longer, for whatever reason.
  func leave(_ number: Int) {
    // Let go of it outside the lock: a promise may go with it.
    let gone = state.withLock { $0.waiting.removeValue(forKey: number) }
    _ = gone
  }

  /// There may be news: tries all who wait.
  func call() {
    let waiting = state.withLock(\.waiting)
    let answered = waiting.filter { $0.value() }.map(\.key)
    guard !answered.isEmpty else { return }
    let gone = state.withLock { state in answered.map { state.waiting.removeValue(forKey: $0) } }
    _ = gone
  }

  /// The same, soon and elsewhere: for callers that hold a lock or must go on.
  func callSoon() {
    guard count > 0 else { return }
    Task.detached { self.call() }
  }
}
