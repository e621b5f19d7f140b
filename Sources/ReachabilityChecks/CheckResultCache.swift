internal import ReachabilityModel

/// The last outcomes, for callers that accept an older one.
struct CheckResultCache {
  private var outcomes: [CheckRequest: (outcome: CheckOutcome, at: ContinuousClock.Instant, number: Int)] = [:]
  /// The requests in the order of their outcomes, as a ring buffer: the oldest is at `number` modulo its size.
  private var order: [CheckRequest] = []
  private var number = 0

  func outcome(of request: CheckRequest, _ maximumAge: Duration) -> CheckOutcome? {
    outcomes[request].flatMap { .now - $0.at <= maximumAge ? $0.outcome : nil }
  }

  /// Stores an outcome, unless a newer one is stored.
  mutating func insert(_ outcome: CheckOutcome, _ instant: ContinuousClock.Instant) {
    // These reasons are no statement about the target.
    guard outcome.result.reason != .cancelled, outcome.result.reason != .descriptorLimit else { return }
    guard outcomes[outcome.request].map({ $0.at <= instant }) ?? true else { return }
    let slot = number % Limits.cachedOutcomes
    if order.count == Limits.cachedOutcomes {
      // The oldest request may have a newer outcome.
      let oldest = order[slot]
      if outcomes[oldest]?.number == number - Limits.cachedOutcomes { outcomes[oldest] = nil }
      order[slot] = outcome.request
    } else {
      order.append(outcome.request)
    }
    outcomes[outcome.request] = (outcome, instant, number)
    number += 1
  }
}
