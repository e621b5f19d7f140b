internal import Names

extension NameWatcher {
  /// How long an answer is trusted.
  static func life(of answer: Result<[ResolvedAddress], ResolutionFailure>) -> Duration {
    guard case .success(let addresses) = answer else { return Limits.failedNameRetry }
    // Addresses of the hosts file have no time to live of their own.
    let life = addresses.compactMap(\.timeToLive).min() ?? Limits.longestNameLife
    return min(max(life, Limits.shortestNameLife), Limits.longestNameLife)
  }
}
