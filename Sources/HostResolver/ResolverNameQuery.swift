internal import EventLoop

/// A name that is being resolved, and its requests.
struct ResolverNameQuery {
  let name: String
  /// The identifiers of the requests; a set, because there may be thousands and each can be cancelled.
  var waiters: Set<UInt64> = []
  /// When the last attempt started.
  var askedAt = MonotonicInstant.now
  /// The number of attempts; answers to an earlier attempt are ignored.
  var attempt = 0
  /// The full names that the name may stand for and that are not tried yet; nil before the first attempt.
  var candidates: [String]?
  /// The failure of an earlier candidate, which is reported if no candidate is found.
  var earlierFailure: String?
  var ipv4: Result<ResolvedAddresses, AresChannel.LookupFailure>?
  var ipv6: Result<ResolvedAddresses, AresChannel.LookupFailure>?

  /// The combined result of both families.
  enum Verdict: Equatable {
    /// `isComplete` is false if the other family failed: the result can be used, but not cached.
    case found(ResolvedAddresses, isComplete: Bool)
    case notFound
    /// No server responded before c-ares' timeout; the query is repeated while requests wait.
    case noResponse
    case failed(String)
  }

  /// The addresses so far, IPv6 first.
  var addresses: ResolvedAddresses {
    ((try? ipv6?.get()) ?? []) + ((try? ipv4?.get()) ?? [])
  }

  /// Nil while a family is open.
  ///
  /// c-ares can query both families itself (AF_UNSPEC), but version 1.18 then reports the status of the last answer: a
  /// SERVFAIL followed by NODATA would be a "no such address".
  var verdict: Verdict? {
    guard let ipv4, let ipv6 else { return nil }
    let failures = [ipv6, ipv4].compactMap { outcome -> AresChannel.LookupFailure? in
      guard case .failure(let refusal) = outcome, refusal != .notFound else { return nil }
      return refusal
    }
    let addresses = self.addresses
    if !addresses.isEmpty { return .found(addresses, isComplete: failures.isEmpty) }
    // An answer that states an error is more useful than a timeout.
    for case .failed(let text) in failures { return .failed(text) }
    return failures.isEmpty ? .notFound : .noResponse
  }
}
