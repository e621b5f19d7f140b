internal import Locks
internal import EmbeddedHTTPServer

/// Requests that wait for news of one resource, or of many by their topics: each is an entry here, and holds no thread.
///
/// Whoever waits is tried again at every call; what it answers is its own affair. A call may say what has happened, so that
/// those whom that cannot concern need not look.
final class LongPollRegistry<Change: Sendable>: Sendable {
  /// Answers its request if there is news by now; false to wait on.
  ///
  /// It is given what has happened; nil for anything.
  typealias Attempt = @Sendable ([Change]?) -> Bool

  /// Where a request waits.
  struct WaiterID: Sendable {
    fileprivate var topic: String
    fileprivate var number: Int
  }

  private struct State {
    var last = 0
    var waiting: [String: [Int: Attempt]] = [:]
    /// What is to be called soon, and why.
    var pendingTopics: Set<String> = []
    var changes: [Change]? = []
  }

  /// News of one call that are told one by one; of more, everybody is to look.
  private static var changeLimit: Int { 256 }

  private let state = Locked(State())

  /// Has a request wait, unless there is news already.
  ///
  /// - Returns: by what it leaves.
  func add(topic: String = "", _ attempt: @escaping Attempt) -> WaiterID {
    let waiterID = state.withLock { state in
      state.last += 1
      state.waiting[topic, default: [:]][state.last] = attempt
      return WaiterID(topic: topic, number: state.last)
    }
    // Once more, now that no call can pass it by.
    if attempt(nil) { remove(waiterID) }
    return waiterID
  }

  /// The request waits no longer, for whatever reason.
  func remove(_ waiterID: WaiterID) { remove([waiterID.number], waiterID.topic) }

  private func remove(_ numbers: [Int], _ topic: String) {
    guard !numbers.isEmpty else { return }
    // Let go of them outside the lock: a promise may go with each.
    let removed = state.withLock { state in
      let removed = numbers.map { state.waiting[topic]?.removeValue(forKey: $0) }
      if state.waiting[topic]?.isEmpty == true { state.waiting[topic] = nil }
      return removed
    }
    _ = removed
  }

  /// There may be news: tries all who wait for this topic.
  func notify(topic: String = "", _ changes: [Change]? = nil) {
    let waiting = state.withLock { $0.waiting[topic] ?? [:] }
    remove(waiting.filter { $0.value(changes) }.map(\.key), topic)
  }

  /// The same for some topics, soon and elsewhere: for callers that hold a lock or must go on.
  func notifyLater(topics: Set<String> = [""], _ changes: [Change]? = nil) {
    let isFirst = state.withLock { state in
      let wanted = topics.filter { state.waiting[$0] != nil }
      guard !wanted.isEmpty else { return false }
      defer { state.pendingTopics.formUnion(wanted) }
      let isFirst = state.pendingTopics.isEmpty
      if let more = changes, let known = state.changes, known.count + more.count <= Self.changeLimit {
        state.changes = known + more
      } else {
        state.changes = nil
      }
      return isFirst
    }
    // What is called until this begins goes with it.
    if isFirst { Task.detached { self.notifyPending() } }
  }

  private func notifyPending() {
    let (topics, changes) = state.withLock { state in
      defer { (state.pendingTopics, state.changes) = ([], []) }
      return (state.pendingTopics, state.changes)
    }
    for topic in topics { notify(topic: topic, changes) }
  }
}
