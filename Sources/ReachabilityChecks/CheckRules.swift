internal import NetworkReachability
package import ReachabilityModel

/// What a verdict for the route means for a check: pure rules.
package enum CheckRules {
  /// The target whose route a check uses: the host, from the same source and interface, for the same protocol and port.
  static func routeTarget(_ request: CheckRequest) -> ReachabilityTarget {
    var target = request.target.routeTarget
    target.source = request.source ?? target.source
    target.interface = request.interface ?? target.interface
    return target
  }

  /// Whether an address and port are those that a check names, and not those of a redirect or of a name.
  static func isTarget(of request: CheckRequest, _ address: IPAddress, _ port: UInt16?) -> Bool {
    request.target.host.remote == .address(address) && port == request.target.port
  }

  /// Whether a check of a target sends packets to a known address.
  static func isRoutable(_ target: CheckTarget) -> Bool {
    guard case .address = target.host.remote else { return false }
    return target.scheme != .route
  }

  /// The result of a check without a route, for which nothing is sent; nil when there is a route, or that is unknown.
  ///
  /// A name without addresses is a failure of the target, not of the route. A name that is not resolved is evaluated by the
  /// default path.
  static func unreachableResult(_ verdict: HostVerdict, startedAt: Timestamp, duration: Duration) -> CheckResult? {
    guard verdict.path.status == .notReachable, let reason = verdict.path.reason, reason != .dnsNotFound else {
      return nil
    }
    return CheckResult(
      .unreachable, reason, detail: "no usable route to \(verdict.target)", startedAt: startedAt,
      duration: duration)
  }

  private static func isUnreachable(_ verdict: HostVerdict) -> Bool {
    unreachableResult(verdict, startedAt: Timestamp(microseconds: 0), duration: .zero) != nil
  }

  /// Whether an address may be contacted, by the verdict for the route to it; nil when the lookup failed.
  ///
  /// See ``decisionWithoutRoute(_:for:_:)`` for a route that is not known.
  static func contactDecision(
    _ request: CheckRequest, for address: IPAddress, _ port: UInt16?, _ verdict: HostVerdict?
  ) -> ContactDecision {
    guard let verdict else { return decisionWithoutRoute(request, for: address, port) }
    return contactDecision(request, for: address, port, provisional(verdict))
  }

  /// Whether an address may be contacted when the kernel's routes cannot be read (AF_NETLINK is forbidden, for example).
  ///
  /// The check is performed: its result does not need the route. A policy must permit the address even as one of this
  /// machine, because the route may lead there.
  private static func decisionWithoutRoute(
    _ request: CheckRequest, for address: IPAddress, _ port: UInt16?
  ) -> ContactDecision {
    guard let policy = request.policy else { return .allowed }
    return policy.allows(address, port: port) && policy.allowsLocal(address, port: port) ? .allowed : .denied
  }

  /// A verdict that waited for the kernel, as a provisional one.
  static func provisional(_ verdict: HostVerdict) -> ProvisionalVerdict {
    ProvisionalVerdict(verdict: verdict, routeTypes: [verdict.path.routeType].compactMap(\.self))
  }

  /// Whether an address may be contacted, by a provisional verdict: with a stale one the attempt is made.
  ///
  /// A route of type `local` leads to this machine even when no interface has the address (AnyIP), so the policy for this
  /// machine's own addresses applies to it.
  static func contactDecision(
    _ request: CheckRequest, for address: IPAddress, _ port: UInt16?, _ provisional: ProvisionalVerdict?
  ) -> ContactDecision {
    guard let provisional, provisional.verdict.path.status != .unknown else {
      return decisionWithoutRoute(request, for: address, port)
    }
    // Before the route, so that a caller learns nothing about addresses that it may not contact.
    if let policy = request.policy {
      let isLocal = provisional.routeTypes.contains { [.local, .anycast, .broadcast].contains($0) }
      guard policy.allows(address, port: port), !isLocal || policy.allowsLocal(address, port: port) else {
        return .denied
      }
    }
    if provisional.isStale { return .allowed }
    return isUnreachable(provisional.verdict) ? .noRoute : .allowed
  }

  /// Whether a verdict shows that the route to its target is missing, and not only the default route.
  ///
  /// A name without known addresses may have local ones, as long as a name server can be reached.
  ///
  /// - Parameters:
  ///   - verdict: the verdict for the target.
  ///   - reachesNameServer: whether any name server has a route; evaluated only when needed.
  /// - Returns: whether a check would have to fail.
  package static func isRouteMissing(_ verdict: HostVerdict, _ reachesNameServer: @autoclosure () -> Bool) -> Bool {
    guard isUnreachable(verdict) else { return false }
    guard verdict.phase == .optimistic else { return true }
    // Without a usable interface or source address of its own, the target need not be resolved.
    if verdict.target.interface != nil, verdict.path.reason != .noRoute { return true }
    return verdict.path.reason == .noSource || !reachesNameServer()
  }

  /// A prober's result, or `unreachable` when this machine has no route: a local failure is not attributed to the target.
  static func attributed(_ result: CheckResult, _ verdict: HostVerdict?) -> CheckResult {
    guard result.state != .up, result.reason != .policyDenied, result.reason != .cancelled, let verdict,
      let unreachable = unreachableResult(verdict, startedAt: result.startedAt, duration: result.duration)
    else { return result }
    var attributed = result
    attributed.state = .unreachable
    attributed.reason = unreachable.reason
    attributed.detail = unreachable.detail
    return attributed
  }

  /// The verdict for a `route` target as a result.
  static func result(of verdict: HostVerdict, startedAt: Timestamp, duration: Duration) -> CheckResult {
    let state: CheckResult.State =
      switch verdict.path.status {
      case .reachable: verdict.isConfirmedReachable ? .up : .unknown
      case .notReachable: verdict.path.reason == .dnsNotFound ? .down : .unreachable
      case .unknown: .unknown
      }
    let best = verdict.addresses.max { $0.path.rank < $1.path.rank }
    return CheckResult(
      state, state == .up ? nil : verdict.path.reason, address: best?.address, source: verdict.path.source,
      startedAt: startedAt, duration: duration)
  }
}
