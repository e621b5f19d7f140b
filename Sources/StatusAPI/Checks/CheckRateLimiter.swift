internal import Locks

/// How many checks a client may ask for: each sends packets to somebody else.
final class CheckRateLimiter: Sendable {
  /// Checks at once, after a pause, and so the most of one request; a count of five is five.
  static let burst = 1_000.0
  /// Checks a second, on and on.
  static let ratePerSecond = 50.0
  /// Clients that are counted at once; when more come, those that have paused long enough are forgotten, and only if
  /// none has, all begin anew.
  static let clientLimit = 1_024

  private struct Bucket {
    var credit: Double
    var at: ContinuousClock.Instant

    func credit(_ now: ContinuousClock.Instant) -> Double {
      min(CheckRateLimiter.burst, credit + (now - at) / .seconds(1) * CheckRateLimiter.ratePerSecond)
    }
  }

  private let buckets = Locked<[String: Bucket]>([:])

  /// Counts checks.
  ///
  /// - Returns: nil if the client may make them, else the seconds after which it may.
  func consume(_ count: Int, client: String, now: ContinuousClock.Instant = .now) -> Int? {
    buckets.withLock { buckets in
      if buckets.count >= Self.clientLimit, buckets[client] == nil {
        buckets = buckets.filter { $0.value.credit(now) < Self.burst }
        if buckets.count >= Self.clientLimit { buckets = [:] }
      }
      var bucket = buckets[client] ?? Bucket(credit: Self.burst, at: now)
      bucket = Bucket(credit: bucket.credit(now), at: now)
      let missing = Double(count) - bucket.credit
      if missing <= 0 { bucket.credit -= Double(count) }
      buckets[client] = bucket
      return missing <= 0 ? nil : Int((missing / Self.ratePerSecond).rounded(.up))
    }
  }
}
