internal import ReachabilityModel

/// What a verdict over the way means for a check: pure rules.
enum CheckRules {
  /// The route-level question behind a check: the host, from the same source and interface.
  static func target(_ request: ProbeRequest) -> Target {
    var target = request.target.host
    target.source = request.source ?? target.source
    target.interface = request.interface ?? target.interface
    return target
  }

  /// The result of a check that never left, because the way is missing; nil when it is there, or nobody knows.
  ///
  /// A name without addresses is the target's fault and not the way's; a name that is not resolved is judged by the way
  /// out as such.
  static func missingWay(_ verdict: HostVerdict, startedAt: Timestamp, duration: Duration) -> ProbeResult? {
    guard verdict.path.status == .notReachable, let reason = verdict.path.reason, reason != .dnsNotFound else {
      return nil
    }
    return ProbeResult(
      .unreachable, reason, detail: "this machine has no way to \(verdict.target)", startedAt: startedAt,
      duration: duration)
  }

  /// A prober's result in the light of the way as it is now: never blame the target for our own cable.
  static func judged(_ result: ProbeResult, _ verdict: HostVerdict?) -> ProbeResult {
    guard result.state != .up, result.reason != .policyDenied, result.reason != .cancelled, let verdict,
      let missing = missingWay(verdict, startedAt: result.startedAt, duration: result.duration)
    else { return result }
    var judged = result
    judged.state = .unreachable
    judged.reason = missing.reason
    judged.detail = missing.detail
    return judged
  }

  /// A `route` target's verdict as a result.
  static func result(of verdict: HostVerdict, startedAt: Timestamp, duration: Duration) -> ProbeResult {
    let state: ProbeResult.State =
      switch verdict.path.status {
      case .reachable: verdict.isSurelyReachable ? .up : .unknown
      case .notReachable: verdict.path.reason == .dnsNotFound ? .down : .unreachable
      case .unknown: .unknown
      }
    let best = verdict.addresses.max { $0.path.rank < $1.path.rank }
    return ProbeResult(
      state, state == .up ? nil : verdict.path.reason, address: best?.address, source: verdict.path.source,
      startedAt: startedAt, duration: duration)
  }
}
