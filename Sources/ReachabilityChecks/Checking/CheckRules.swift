internal import NetworkReachability
internal import ReachabilityModel

/// What a verdict over the way means for a check: pure rules.
enum CheckRules {
  /// The route-level question behind a check: the host, from the same source and interface.
  static func target(_ request: ProbeRequest) -> ReachabilityTarget {
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

  /// Whether an address may be asked, by the verdict over the way to it; nil when the kernel could not be asked.
  ///
  /// Where nobody knows, nothing is sent for callers.
  static func passage(
    _ request: ProbeRequest, to address: IPAddress, _ port: UInt16?, _ verdict: HostVerdict?
  ) -> Passage {
    guard let verdict else { return request.policy == nil ? .open : .denied }
    return passage(request, to: address, port, glance(verdict))
  }

  /// A verdict for which the kernel was waited for, as a glance.
  static func glance(_ verdict: HostVerdict) -> Glance {
    Glance(verdict: verdict, routeTypes: [verdict.path.routeType].compactMap(\.self))
  }

  /// The same by a glance at the way: what the tables do not know yet is tried, if the kernel's route leads elsewhere.
  ///
  /// A route of type `local` leads to this machine though no interface has the address, as AnyIP does: what the policy
  /// says of our own addresses holds there, too.
  static func passage(
    _ request: ProbeRequest, to address: IPAddress, _ port: UInt16?, _ glance: Glance?
  ) -> Passage {
    guard let glance, glance.verdict.path.status != .unknown else { return request.policy == nil ? .open : .denied }
    // First of all: what a caller may not ask is no better known to it while our own way is missing.
    if let policy = request.policy {
      let leadsHere = glance.routeTypes.contains { [.local, .anycast, .broadcast].contains($0) }
      guard policy.allows(address, port: port), !leadsHere || policy.allowsHere(address, port: port) else {
        return .denied
      }
    }
    if glance.isBehind { return .open }
    return missingWay(glance.verdict, startedAt: Timestamp(microseconds: 0), duration: .zero) == nil ? .open : .missing
  }

  /// Whether a verdict tells that the way to its target is missing, and not only that the way out as such is.
  ///
  /// Of a name whose addresses are not known they may be near, as long as there is anybody to ask for them.
  ///
  /// - Parameters:
  ///   - verdict: over the target.
  ///   - reachesNameServer: whether a way leads to any name server; asked only where it matters.
  /// - Returns: whether checks cannot find the target.
  static func isWayMissing(_ verdict: HostVerdict, _ reachesNameServer: @autoclosure () -> Bool) -> Bool {
    guard missingWay(verdict, startedAt: Timestamp(microseconds: 0), duration: .zero) != nil else { return false }
    guard verdict.phase == .optimistic else { return true }
    // What cannot send through its own interface, or from its own address, need not be resolved.
    if verdict.target.interface != nil, verdict.path.reason != .noRoute { return true }
    return verdict.path.reason == .noSource || !reachesNameServer()
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
