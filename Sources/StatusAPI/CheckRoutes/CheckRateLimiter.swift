internal import Locks

/// Limits how many checks a client may request: each sends packets to a third party.
final class CheckRateLimiter: Sendable {
  /// The burst size, and therefore the maximum of one request; a check with a count of five counts five times.
  static let burst = 1_000.0
  /// The sustained rate in checks per second.
  static let ratePerSecond = 50.0
  /// The maximum number of counted clients; above it, clients with full credit are removed, and if that is not enough,
  /// all counts are reset.
  static let clientLimit = 1_024

  private struct Bucket {
    var credit: Double
    var at: ContinuousClock.Instant

    func credit(_ now: ContinuousClock.Instant) -> Double {
      min(CheckRateLimiter.burst, credit + (now - at) / .seconds(1) * CheckRateLimiter.ratePerSecond)
    }
  }

  private let buckets = Locked<[String: Bucket]>([:])

  /// Counts further addresses that the client's checks have contacted.
  func charge(_ count: Int, client: String, now: ContinuousClock.Instant = .now) {
    buckets.withLock { buckets in
      guard let bucket = buckets[client] else { return }
      buckets[client] = Bucket(credit: bucket.credit(now) - Double(count), at: now)
    }
  }

  /// Counts checks.
  ///
  /// - Returns: nil if the client may run them, otherwise the number of seconds after which it may.
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
