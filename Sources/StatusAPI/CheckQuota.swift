internal import Locks

/// How many checks a client may ask for: each sends packets to somebody else.
final class CheckQuota: Sendable {
  /// Checks at once, after a pause, and so the most of one request; a count of five is five.
  static let burst = 1_000.0
  /// Checks a second, on and on.
  static let perSecond = 50.0
  /// Clients that are counted at once; when more come, those that have paused long enough are forgotten, and only if
  /// none has, all begin anew.
  static let clients = 1_024

  private struct Account {
    var credit: Double
    var at: ContinuousClock.Instant

    func credit(_ now: ContinuousClock.Instant) -> Double {
      min(CheckQuota.burst, credit + (now - at) / .seconds(1) * CheckQuota.perSecond)
    }
  }

  private let accounts = Locked<[String: Account]>([:])

  /// Counts checks.
  ///
  /// - Returns: nil if the client may make them, else the seconds after which it may.
  func take(_ count: Int, client: String, now: ContinuousClock.Instant = .now) -> Int? {
    accounts.withLock { accounts in
      if accounts.count >= Self.clients, accounts[client] == nil {
        accounts = accounts.filter { $0.value.credit(now) < Self.burst }
        if accounts.count >= Self.clients { accounts = [:] }
      }
      var account = accounts[client] ?? Account(credit: Self.burst, at: now)
      account = Account(credit: account.credit(now), at: now)
      let missing = Double(count) - account.credit
      if missing <= 0 { account.credit -= Double(count) }
      accounts[client] = account
      return missing <= 0 ? nil : Int((missing / Self.perSecond).rounded(.up))
    }
  }
}
