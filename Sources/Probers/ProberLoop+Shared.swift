extension ProberLoop {
  /// What the exchanges of all checks use.
  struct Shared {
    let patterns = ProberPatternCache()
    let trust = TLSTrustStores()
    let credentials = TLSCredentials()
    let transfers: CurlTransfers
  }

  /// How many checks run at the same time.
  struct Limiters {
    var names = ProberConcurrencyLimiter(
      capacity: Limits.checksResolving, perAddress: .max, queueLimit: Limits.checksWaiting)
    var slots = ProberSlots()
  }
}
