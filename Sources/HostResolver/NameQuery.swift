internal import EventLoop

/// A name that is being resolved, and the requests for it.
struct NameQuery {
  let name: String
  /// The identifiers of the requests; a set, because there may be thousands and each can be cancelled.
  var waiters: Set<UInt64> = []
  /// When it was last asked.
  var askedAt = MonotonicInstant.now
  /// The number of times it was asked; answers to an earlier attempt are ignored.
  var attempt = 0
  /// The full names that it may stand for and that are not asked yet; nil before the first.
  var candidates: [String]?
  /// What went wrong with a candidate before this one: worth telling if none is found.
  var earlierFailure: String?
  var ipv4: Result<[ResolvedAddress], AresChannel.LookupFailure>?
  var ipv6: Result<[ResolvedAddress], AresChannel.LookupFailure>?

  /// What both families together come to.
  enum Verdict: Equatable {
    /// `isComplete` is false if the other family failed: good enough to use, not to remember.
    case found([ResolvedAddress], isComplete: Bool)
    case notFound
    /// No answer in c-ares' own time; to be asked again while somebody waits.
    case noResponse
    case failed(String)
  }

  /// The addresses so far, IPv6 first.
  var addresses: [ResolvedAddress] {
    ((try? ipv6?.get()) ?? []) + ((try? ipv4?.get()) ?? [])
  }

  /// Nil while a family is open.
  ///
  /// c-ares asks both families itself, too (AF_UNSPEC), but 1.18 then reports the status of whichever answered last: a
  /// SERVFAIL followed by NODATA would be a "no such address".
  var verdict: Verdict? {
    guard let ipv4, let ipv6 else { return nil }
    let failures = [ipv6, ipv4].compactMap { outcome -> AresChannel.LookupFailure? in
      guard case .failure(let refusal) = outcome, refusal != .notFound else { return nil }
      return refusal
    }
    let addresses = self.addresses
    if !addresses.isEmpty { return .found(addresses, isComplete: failures.isEmpty) }
    // An answer that says what is wrong is worth more than silence.
    for case .failed(let text) in failures { return .failed(text) }
    return failures.isEmpty ? .notFound : .noResponse
  }
}
