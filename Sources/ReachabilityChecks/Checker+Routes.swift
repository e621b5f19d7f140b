internal import NetworkReachability
internal import ReachabilityModel

// The route of a check: provisional before sending, confirmed after a failure.
extension Checker {
  /// The request with the name of its interface in place of its index or its alternative name, which sockets cannot be bound to
  /// (socket(7), SO_BINDTODEVICE).
  func withInterfaceName(_ request: CheckRequest) -> CheckRequest {
    guard let interface = request.interface, let name = monitor.interfaceName(ofScope: interface) else {
      return request
    }
    var named = request
    named.interface = name
    return named
  }

  /// Evaluates the route to the checked address; without an address, to the last known ones, or to the host when its name
  /// could not be resolved.
  func evaluate(
    _ route: ReachabilityTarget, after result: CheckResult, _ completion: @escaping @Sendable (HostVerdict?) -> Void
  ) {
    // Another address than that of the result may have a route.
    let failed = result.evidence.attempts.filter { $0.state == result.state }.map(\.address)
    if failed.count > 1, result.state != .up {
      return monitor.evaluate(route, resolution: .addresses(failed)) { completion(try? $0.get()) }
    }
    if let address = result.address {
      return monitor.evaluate(route.with(address)) { completion(try? $0.get()) }
    }
    // A name that does not exist was answered by a name server.
    guard result.reason != .dnsNotFound else { return completion(nil) }
    if let known = monitor.verdict(of: route), known.phase == .resolved, !known.addresses.isEmpty {
      return monitor.evaluate(route, resolution: .addresses(known.addresses.map(\.address))) {
        completion(try? $0.get())
      }
    }
    monitor.evaluate(route) { [monitor] answer in
      let verdict = try? answer.get()
      completion(verdict.flatMap { CheckRules.isRouteMissing($0, monitor.reachesNameServer) ? $0 : nil })
    }
  }

  /// The verdict for the route to an address with which a check may start without waiting for the kernel; nil otherwise.
  func verdictBefore(
    _ request: CheckRequest, _ address: IPAddress, _ route: ReachabilityTarget, _ start: CheckStartTime
  ) -> HostVerdict? {
    guard let provisional = monitor.provisionalVerdict(of: route), !provisional.isStale,
      rejection(of: request, address, provisional.verdict, start) == nil
    else { return nil }
    return provisional.verdict
  }

  /// The verdict for the route to a target that is up; nil when it would have to wait for the kernel.
  ///
  /// A route that existed before the check is not looked up again, unless another address has answered.
  func verdictWithoutWaiting(
    _ result: CheckResult, _ route: ReachabilityTarget, _ before: HostVerdict?
  ) -> HostVerdict? {
    guard let address = result.address else { return nil }
    if route.remote == .address(address), let before { return before }
    return provisionalVerdict(for: address, nil, on: route).flatMap { $0.isStale ? nil : $0.verdict }
  }

  /// The result of a check of an address that is not performed: it has no route, the policy denies it, or its route is
  /// unknown; nil when it is performed.
  func rejection(
    of request: CheckRequest, _ address: IPAddress, _ verdict: HostVerdict?, _ start: CheckStartTime
  ) -> CheckResult? {
    switch CheckRules.contactDecision(request, for: address, request.target.port, verdict) {
    case .allowed: nil
    case .noRoute: verdict.flatMap { CheckRules.unreachableResult($0, startedAt: start.time, duration: start.elapsed) }
    case .denied where verdict.map { $0.path.status == .unknown } ?? true:
      CheckResult(
        .unknown, .kernelUnavailable,
        detail: "the kernel's routes cannot be read, and policy.allow does not list the address", startedAt: start.time,
        duration: start.elapsed)
    case .denied: Self.denial(start)
    }
  }

  static func denial(_ start: CheckStartTime) -> CheckResult {
    CheckResult(
      .unknown, .policyDenied, detail: "the policy does not allow to contact this target", startedAt: start.time,
      duration: .zero)
  }

  /// The route of a packet that is sent now; on the prober's thread, which does not wait while the monitor is started.
  func provisionalVerdict(
    for address: IPAddress, _ port: UInt16?, on route: ReachabilityTarget
  ) -> ProvisionalVerdict? {
    var target = route.with(address)
    if let port { target.transport?.port = port }
    if let provisional = monitor.provisionalVerdict(of: target) { return provisional }
    return (try? monitor.evaluate(target)).map(CheckRules.provisional)
  }

  /// Checks a `route` target, by a lookup alone.
  func evaluate(_ route: ReachabilityTarget, for check: SharedCheck, _ start: CheckStartTime) {
    let evaluate: @Sendable (NameResolution) -> Void = { [self] resolution in
      monitor.evaluate(route, resolution: resolution) { [self] answer in
        guard let verdict = try? answer.get() else {
          let result = CheckResult(.unknown, .kernelUnavailable, startedAt: start.time, duration: start.elapsed)
          return finish(check, result, nil)
        }
        finish(check, CheckRules.result(of: verdict, startedAt: start.time, duration: start.elapsed), verdict.path)
      }
    }
    guard case .name(let name) = route.remote else { return evaluate(.pending) }
    monitor.nameResolver.resolve(name, with: resolver, timeout: check.request.timeout, evaluate)
  }
}

/// When a check began, on two clocks.
struct CheckStartTime {
  let time = Timestamp.now
  private let instant = ContinuousClock.now

  var elapsed: Duration { .now - instant }
}

extension ReachabilityTarget {
  /// The target with an address in place of its name.
  fileprivate func with(_ address: IPAddress) -> ReachabilityTarget {
    var target = self
    target.remote = .address(address)
    return target
  }
}
