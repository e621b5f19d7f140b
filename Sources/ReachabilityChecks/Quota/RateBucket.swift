/// A token bucket of one second: checks that may begin now besides the reserved ones.
struct RateBucket: Sendable {
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

  /// Checks that are missing for `count` of them; 0 when they may begin.
  func shortage(of count: Int) -> Double { max(0, Double(count) - credit) }

  /// Takes checks out.
  mutating func take(_ count: Int) { credit -= Double(count) }
}
