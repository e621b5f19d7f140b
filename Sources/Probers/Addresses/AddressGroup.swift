internal import ReachabilityModel

/// The checks of all addresses of a host, which together are one check.
struct AddressGroup {
  /// The identifiers of the checks, in the order of the addresses.
  let checks: [UInt64]
  private var results: [UInt64: CheckResult] = [:]

  init(_ checks: [UInt64]) { self.checks = checks }

  /// Adds the result of one check; true if it is the last one.
  mutating func add(_ result: CheckResult, of id: UInt64) -> Bool {
    results[id] = result
    return results.count == checks.count
  }

  /// The result for the host: every address must be `up`.
  ///
  /// It is that of the first address with the worst state, with the evidence of all. An address that is `down` decides: those
  /// that could not be checked would not change the result.
  ///
  /// - Parameter whole: the begin of the check, and the phase before the addresses were known.
  /// - Returns: the result.
  func combined(_ whole: CheckResult) -> CheckResult {
    let all = checks.compactMap { results[$0] }
    let order: [CheckResult.State] = [.down, .unknown, .unreachable, .up]
    guard let worst = order.first(where: { state in all.contains { $0.state == state } }),
      var result = all.first(where: { $0.state == worst })
    else { return whole }
    // Whatever the other addresses answered: the caller must learn nothing about them.
    if let denial = all.first(where: { $0.reason == .policyDenied }) { return denial }
    let failed = all.filter { $0.state != .up }
    if !failed.isEmpty {
      let shown = failed.prefix(Limits.addressesReported).map { result in
        "\(result.address?.description ?? "an address"): \(result.detail ?? result.reason?.rawValue ?? result.state.rawValue)"
      }
      let rest = failed.count - shown.count
      result.detail =
        "\(failed.count) of \(all.count) addresses: " + shown.joined(separator: "; ")
        + (rest > 0 ? "; \(rest) more" : "")
    }
    result.startedAt = whole.startedAt
    result.duration = (whole.phases.first?.duration ?? .zero) + (all.map(\.duration).max() ?? .zero)
    result.phases = whole.phases + result.phases
    result.evidence.tls = result.evidence.tls?.withExpiries(of: all.compactMap(\.evidence.tls))
    result.evidence.attempts = all.compactMap { part in
      part.address.map { address in
        CheckResult.Attempt(
          address, part.state, part.reason, detail: part.detail,
          startedAfter: .microseconds(max(0, part.startedAt.microseconds - whole.startedAt.microseconds)),
          duration: part.duration, source: part.source, phases: part.phases, evidence: part.evidence)
      }
    }
    return result
  }
}
