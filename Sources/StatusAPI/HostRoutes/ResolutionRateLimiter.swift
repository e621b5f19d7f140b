internal import Locks

/// Limits how many names a client may have resolved: each may cause a query to a third party's name server.
final class ResolutionRateLimiter: Sendable {
  /// Resolutions per second and client.
  static let ratePerSecond = 10
  /// The maximum number of counted clients; above it, all counts are reset.
  static let clientLimit = 1024

  private struct Window {
    var start: ContinuousClock.Instant?
    var counts: [String: Int] = [:]
  }

  private let window = Locked(Window())

  /// Counts one resolution; false when the client has reached the limit for this second.
  func consume(client: String, now: ContinuousClock.Instant = .now) -> Bool {
    window.withLock { window in
      if window.start.map({ now - $0 >= .seconds(1) }) ?? true || window.counts.count >= Self.clientLimit {
        window.start = now
        window.counts = [:]
      }
      window.counts[client, default: 0] += 1
      return window.counts[client, default: 0] <= Self.ratePerSecond
    }
  }
}
