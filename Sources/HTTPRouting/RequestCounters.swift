internal import Locks
internal import Synchronization

/// Counts responses by route, method and status, so that requests cannot increase the number of counters without bound.
package final class RequestCounters: Sendable {
  /// The responses that are counted together.
  package struct Kind: Hashable, Sendable {
    /// The pattern of the route; empty for none.
    package var route: String
    package var method: String
    package var status: Int
  }

  final class Count: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .relaxed) }

    func increment() { number.wrappingAdd(1, ordering: .relaxed) }
  }

  package init() {}

  private let counts = Locked<[Kind: Count]>([:])
  private static let methods: Set<String> = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH"]

  func count(_ answer: HTTPAccess) {
    let method = answer.request?.method ?? ""
    counter(
      of: answer.response.label, Self.methods.contains(method) ? method : "other", answer.response.status
    ).increment()
  }

  /// Returns the counter of one kind of response.
  func counter(of route: String, _ method: String, _ status: Int) -> Count {
    let kind = Kind(route: route, method: method, status: status)
    return counts.withLock { counts in
      if let count = counts[kind] { return count }
      let count = Count()
      counts[kind] = count
      return count
    }
  }

  /// The numbers of responses, ordered by their kinds.
  package var all: [(kind: Kind, count: Int)] {
    counts.withLock(\.self).sorted {
      ($0.key.route, $0.key.method, $0.key.status) < ($1.key.route, $1.key.method, $1.key.status)
    }.map { ($0.key, $0.value.value) }
  }
}
