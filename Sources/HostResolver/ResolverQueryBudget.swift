internal import EventLoop

/// The queries that a resolver may send now: a value without a clock.
struct ResolverQueryBudget {
  /// Queries that are sent at the same time for a name: one for each family.
  static let queriesPerName = 2

  private let limit: ResolverConfiguration.QueryLimit?
  private var credit: Double
  private var at: MonotonicInstant

  init(_ limit: ResolverConfiguration.QueryLimit?, now: MonotonicInstant) {
    self.limit = limit
    credit = Double(limit?.atOnce ?? 0)
    at = now
  }

  /// Adds what the time since the last call permits.
  mutating func refill(_ now: MonotonicInstant) {
    guard let limit else { return }
    let seconds = max(.zero, at.duration(to: now)) / .seconds(1)
    credit = min(Double(limit.atOnce), credit + seconds * Double(limit.perSecond))
    at = now
  }

  /// The number of names whose queries may be sent now.
  var names: Int { limit == nil ? .max : max(0, Int(credit) / Self.queriesPerName) }

  /// The queries of a name were sent.
  mutating func takeName() { credit -= Double(Self.queriesPerName) }

  /// When the queries of another name may be sent; nil without a limit.
  var nextName: MonotonicInstant? {
    guard let limit else { return nil }
    let missing = max(0, Double(Self.queriesPerName) - credit)
    return at.advanced(by: .seconds(missing / Double(max(1, limit.perSecond))))
  }
}
