internal import Locks
internal import MicroHTTP

/// Requests that wait for news of one resource, or of many by their topics: each is an entry here, and holds no thread.
///
/// Whoever waits is tried again at every call; what it answers is its own affair. A call may say what has happened, so that
/// those whom that cannot concern need not look.
final class WaitingRoom<News: Sendable>: Sendable {
  /// Answers its request if there is news by now; false to wait on.
  ///
  /// It is given what has happened; nil for anything.
  typealias Attempt = @Sendable ([News]?) -> Bool

  /// Where a request waits.
  struct Place: Sendable {
    fileprivate var topic: String
    fileprivate var number: Int
  }

  private struct State {
    var last = 0
    var waiting: [String: [Int: Attempt]] = [:]
    /// What is to be called soon, and why.
    var called: Set<String> = []
    var news: [News]? = []
  }

  /// News of one call that are told one by one; of more, everybody is to look.
  private static var mostNews: Int { 256 }

  private let state = Locked(State())

  /// Has a request wait, unless there is news already.
  ///
  /// - Returns: by what it leaves.
  func enter(about topic: String = "", _ attempt: @escaping Attempt) -> Place {
    let place = state.withLock { state in
      state.last += 1
      state.waiting[topic, default: [:]][state.last] = attempt
      return Place(topic: topic, number: state.last)
    }
    // Once more, now that no call can pass it by.
    if attempt(nil) { leave(place) }
    return place
  }

  /// The request waits no longer, for whatever reason.
  func leave(_ place: Place) { leave([place.number], place.topic) }

  private func leave(_ numbers: [Int], _ topic: String) {
    guard !numbers.isEmpty else { return }
    // Let go of them outside the lock: a promise may go with each.
    let gone = state.withLock { state in
      let gone = numbers.map { state.waiting[topic]?.removeValue(forKey: $0) }
      if state.waiting[topic]?.isEmpty == true { state.waiting[topic] = nil }
      return gone
    }
    _ = gone
  }

  /// There may be news: tries all who wait for this topic.
  func call(about topic: String = "", _ news: [News]? = nil) {
    let waiting = state.withLock { $0.waiting[topic] ?? [:] }
    leave(waiting.filter { $0.value(news) }.map(\.key), topic)
  }

  /// The same for some topics, soon and elsewhere: for callers that hold a lock or must go on.
  func callSoon(about topics: Set<String> = [""], _ news: [News]? = nil) {
    let isFirst = state.withLock { state in
      let wanted = topics.filter { state.waiting[$0] != nil }
      guard !wanted.isEmpty else { return false }
      defer { state.called.formUnion(wanted) }
      let isFirst = state.called.isEmpty
      if let more = news, let known = state.news, known.count + more.count <= Self.mostNews {
        state.news = known + more
      } else {
        state.news = nil
      }
      return isFirst
    }
    // What is called until this begins goes with it.
    if isFirst { Task.detached { self.callNow() } }
  }

  private func callNow() {
    let (topics, news) = state.withLock { state in
      defer { (state.called, state.news) = ([], []) }
      return (state.called, state.news)
    }
    for topic in topics { call(about: topic, news) }
  }
}
