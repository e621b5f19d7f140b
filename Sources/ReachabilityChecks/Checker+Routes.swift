internal import NetworkReachability
internal import ReachabilityModel

// The route of a check: provisional before sending, confirmed after a failure.
extension Checker {
  /// Evaluates the route to the checked address; without an address, to the last known ones, or to the host when its name
  /// could not be resolved.
  func evaluate(
    _ route: ReachabilityTarget, after result: CheckResult, _ completion: @escaping @Sendable (HostVerdict?) -> Void
  ) {
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
  ///
  /// The published verdict for a watched host follows every event, but reports a loss only after the settle time. For a check
  /// that nobody waits for it suffices when it is reachable: a packet without a route fails in the kernel, which is then asked
  /// for the reason. With a policy the lookup is made, because the policy is about the route at this moment.
  func verdictBefore(
    _ check: SharedCheck, _ address: IPAddress, _ route: ReachabilityTarget, _ start: StartTime
  ) -> HostVerdict? {
    if !check.isShared, check.request.policy == nil, let watched = monitor.verdict(of: route),
      watched.path.status.isReachable
    {
      return watched
    }
    guard let provisional = monitor.provisionalVerdict(of: route), !provisional.isStale,
      rejection(of: check.request, address, provisional.verdict, start) == nil
    else { return nil }
    return provisional.verdict
  }

  /// The route of a packet that is sent now; on the prober's thread, which does not wait while the monitor is started.
  func provisionalVerdict(for address: IPAddress, on route: ReachabilityTarget) -> ProvisionalVerdict? {
    let target = route.with(address)
    if let provisional = monitor.provisionalVerdict(of: target) { return provisional }
    return (try? monitor.evaluate(target)).map(CheckRules.provisional)
  }

  /// Checks a `route` target, by a lookup alone.
  func evaluate(_ route: ReachabilityTarget, for check: SharedCheck, _ start: StartTime) {
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

extension ReachabilityTarget {
  /// The target with an address in place of its name.
  fileprivate func with(_ address: IPAddress) -> ReachabilityTarget {
    var target = self
    target.remote = .address(address)
    return target
  }
}
