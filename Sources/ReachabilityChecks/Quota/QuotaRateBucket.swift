/// A token bucket: checks that may begin now besides the reserved ones, or changes of targets.
struct QuotaRateBucket: Sendable {
  private var credit: Double
  private var at: Duration

  /// A full bucket.
  init(capacity: Int, at now: Duration) {
    credit = Double(capacity)
    at = now
  }

  /// Adds what has come in since the last call.
  mutating func refill(perSecond rate: Double, capacity: Int, at now: Duration) {
    credit = min(Double(capacity), credit + max(0, (now - at) / .seconds(1)) * rate)
    at = now
  }

  /// What is missing for `count`; 0 when all of them are admitted.
  func shortage(of count: Int) -> Double { max(0, Double(count) - credit) }

  /// Takes `count` out.
  mutating func take(_ count: Int) { credit -= Double(count) }
}
