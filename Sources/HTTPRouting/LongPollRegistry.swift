internal import Locks

/// Requests that wait for a change of one resource, or of several by topic; a waiting request holds no thread.
///
/// Every notification retries the waiting requests; each decides about its response. A notification may list the
/// changes, so that requests that they do not concern skip the comparison.
package final class LongPollRegistry<Change: Sendable>: Sendable {
  /// Responds if the state has changed; returns false to continue waiting.
  ///
  /// The argument lists the changes; nil means that anything may have changed.
  package typealias Attempt = @Sendable ([Change]?) -> Bool

  /// Identifies a waiting request.
  package struct WaiterID: Sendable {
    fileprivate var topic: String
    fileprivate var number: Int
  }

  private struct State {
    var last = 0
    var waiting: [String: [Int: Attempt]] = [:]
    /// The topics that the next deferred notification covers, and the changes.
    var pendingTopics: Set<String> = []
    var changes: [Change]? = []
  }

  /// The number of changes that one notification lists; above it, every waiting request compares its state.
  private static var changeLimit: Int { 256 }

  private let state = Locked(State())

  package init() {}

  /// Adds a waiting request, unless its state has changed already.
  ///
  /// - Parameters:
  ///   - topic: the topic to wait for.
  ///   - comparesLater: whether the first attempt is made in a task, because it takes long.
  ///   - attempt: responds if the state has changed.
  /// - Returns: the id for ``remove(_:)``.
  package func add(topic: String = "", comparesLater: Bool = false, _ attempt: @escaping Attempt) -> WaiterID {
    let waiterID = state.withLock { state in
      state.last += 1
      state.waiting[topic, default: [:]][state.last] = attempt
      return WaiterID(topic: topic, number: state.last)
    }
    // Try again: from here on no notification is missed, but one before may have been.
    if comparesLater {
      Task.detached { if attempt(nil) { self.remove(waiterID) } }
    } else if attempt(nil) {
      remove(waiterID)
    }
    return waiterID
  }

  /// Removes a waiting request, for any reason.
  package func remove(_ waiterID: WaiterID) { remove([waiterID.number], waiterID.topic) }

  private func remove(_ numbers: [Int], _ topic: String) {
    guard !numbers.isEmpty else { return }
    // Release the closures outside the lock: each may hold the last reference to a promise.
    let removed = state.withLock { state in
      let removed = numbers.map { state.waiting[topic]?.removeValue(forKey: $0) }
      if state.waiting[topic]?.isEmpty == true { state.waiting[topic] = nil }
      return removed
    }
    _ = removed
  }

  /// Retries all requests that wait for this topic.
  package func notify(topic: String = "", _ changes: [Change]? = nil) {
    let waiting = state.withLock { $0.waiting[topic] ?? [:] }
    remove(waiting.filter { $0.value(changes) }.map(\.key), topic)
  }

  /// Retries the requests of several topics later, in a task: for callers that hold a lock or must not be delayed.
  package func notifyLater(topics: Set<String> = [""], _ changes: [Change]? = nil) {
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
    // Notifications that arrive before the task starts are merged into it.
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
