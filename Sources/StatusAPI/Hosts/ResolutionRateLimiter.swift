internal import Locks

/// How many names a client may have resolved: each can cost a query to somebody else's name server.
final class ResolutionRateLimiter: Sendable {
  /// Resolutions a second and client.
  static let ratePerSecond = 10
  /// Clients that are counted at once; when more come within a second, the count starts anew for all.
  static let clientLimit = 1024

  private struct Window {
    var start: ContinuousClock.Instant?
    var counts: [String: Int] = [:]
  }

  private let window = Locked(Window())

  /// Counts one resolution; false when the client has had its share of this second.
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
