internal import Locks
internal import MicroHTTP

/// How many names a client may have resolved: each can cost a query to somebody else's name server.
final class NameQuota: Sendable {
  /// Resolutions a second and client.
  static let perSecond = 10
  /// Clients that are counted at once; when more come within a second, the count starts anew for all.
  static let clients = 1024

  private struct Window {
    var start: ContinuousClock.Instant?
    var counts: [String: Int] = [:]
  }

  private let window = Locked(Window())

  /// Counts one resolution; false when the client has had its share of this second.
  func take(client: String, now: ContinuousClock.Instant = .now) -> Bool {
    window.withLock { window in
      if window.start.map({ now - $0 >= .seconds(1) }) ?? true || window.counts.count >= Self.clients {
        window.start = now
        window.counts = [:]
      }
      window.counts[client, default: 0] += 1
      return window.counts[client, default: 0] <= Self.perSecond
    }
  }
}

extension HTTPRequest {
  /// The client's address, without the port: `10.0.0.5` of `10.0.0.5:4711`, `[fd00::5]` of `[fd00::5]:4711`.
  var client: String { peer.lastIndex(of: ":").map { String(peer[..<$0]) } ?? peer }
}
