internal import DequeModule

/// The names that are being resolved, each once: those that wait to be sent, and those in flight.
struct ResolverQueryTable {
  private var queries: [UInt64: ResolverNameQuery] = [:]
  /// The query that a new request for a name joins.
  private var byName: [String: UInt64] = [:]
  /// Queries that are not sent yet, the next one first.
  private var waiting: Deque<UInt64> = []
  private var inFlight: Set<UInt64> = []
  private var last: UInt64 = 0

  subscript(id: UInt64) -> ResolverNameQuery? {
    get { queries[id] }
    // In place: a set copies the waiters.
    _modify { yield &queries[id] }
  }

  /// The query for a name, which waits if it is new; nil when too many wait.
  mutating func query(for name: String) -> UInt64? {
    if let joined = byName[name] { return joined }
    guard waiting.count < Limits.queuedNames else { return nil }
    last += 1
    queries[last] = ResolverNameQuery(name: name)
    byName[name] = last
    waiting.append(last)
    return last
  }

  var hasWaiting: Bool { !waiting.isEmpty }

  /// Takes up to `limit` queries to send next; none while as many as allowed are in flight.
  mutating func takeNext(atMost limit: Int) -> [UInt64] {
    let count = min(waiting.count, limit, max(0, Limits.activeNames - inFlight.count))
    defer { waiting.removeFirst(count) }
    return Array(waiting.prefix(count))
  }

  mutating func sent(_ id: UInt64) { inFlight.insert(id) }

  /// The query has its answers; false if it was not in flight.
  @discardableResult
  mutating func answered(_ id: UInt64) -> Bool { inFlight.remove(id) != nil }

  /// The query is sent again: before the others, or after them.
  mutating func wait(_ id: UInt64, isNext: Bool) {
    if isNext { waiting.prepend(id) } else { waiting.append(id) }
  }

  /// All queries in flight are sent again, before the others, with the search list of that time.
  mutating func restart() {
    waiting.prepend(contentsOf: inFlight.sorted())
    inFlight.removeAll()
    for id in queries.keys {
      queries[id]?.candidates = nil
      queries[id]?.earlierFailure = nil
    }
  }

  /// Removes a query; false if there is none.
  mutating func remove(_ id: UInt64) -> Bool {
    guard let query = queries.removeValue(forKey: id) else { return false }
    if byName[query.name] == id { byName[query.name] = nil }
    return true
  }
}
