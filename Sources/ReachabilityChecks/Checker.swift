@_exported public import NetworkReachability
internal import HostResolver
internal import Probers
public import ReachabilityModel

/// Performs active checks, and distinguishes failures of the target from failures of this machine's route.
///
/// Concurrent equal checks are performed once. A target without a route from this machine is `unreachable`, not `down`; when
/// the target is an address, no packet is sent then.
public final class Checker: Sendable {
  let monitor: ReachabilityMonitor
  private let prober: any Prober
  let resolver: Resolver
  private let coalescer = CheckCoalescer()

  /// A checker with a custom prober.
  ///
  /// - Parameters:
  ///   - monitor: evaluates routes; it must outlive the checker.
  ///   - prober: performs the checks.
  public convenience init(monitor: ReachabilityMonitor, prober: any Prober) {
    self.init(monitor: monitor, prober: prober, resolver: monitor.nameResolver.pool.checks)
  }

  /// A checker that uses sockets; it starts no thread before the first check.
  ///
  /// - Parameters:
  ///   - monitor: evaluates routes.
  ///   - isEphemeral: whether targets are checked once, at the request of clients. Their names then have a resolver of their
  ///     own, so that names without an answer do not delay those of targets that are checked repeatedly.
  public convenience init(monitor: ReachabilityMonitor, isEphemeral: Bool = false) {
    let pool = monitor.nameResolver.pool
    let resolver = isEphemeral ? pool.ephemeral : pool.checks
    self.init(monitor: monitor, prober: SocketProber(resolver: resolver), resolver: resolver)
  }

  private init(monitor: ReachabilityMonitor, prober: any Prober, resolver: Resolver) {
    self.monitor = monitor
    self.prober = prober
    self.resolver = resolver
  }

  /// Performs a check, or joins an equal one in progress, or returns a recent outcome.
  ///
  /// - Parameters:
  ///   - request: what to check.
  ///   - maximumAge: the greatest age of an outcome to return again; zero for a check that has not ended.
  ///   - completion: receives the outcome exactly once, on any thread; it must not block.
  /// - Returns: cancels the wait, and the check when no other caller waits for it.
  @discardableResult
  public func check(
    _ request: CheckRequest, maximumAge: Duration = .zero, _ completion: @escaping @Sendable (CheckOutcome) -> Void
  ) -> any CheckCancellation {
    switch coalescer.join(request, maximumAge, completion) {
    case .cached(let outcome):
      completion(outcome)
      return NothingToCancel()
    case .joined(let cancellation):
      return cancellation
    case .new(let check, let cancellation):
      begin(check)
      return cancellation
    }
  }

  /// Performs a check and waits for its outcome; cancelling the task ends it with `unknown` and `cancelled`.
  public func check(_ request: CheckRequest, maximumAge: Duration = .zero) async -> CheckOutcome {
    let cancellation = DeferredCheckCancellation()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        cancellation.set(check(request, maximumAge: maximumAge) { continuation.resume(returning: $0) })
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  // MARK: - Scheduled checks

  // For the state of a target alone: no other caller joins them, and their outcomes are not cached. Targets are seldom equal,
  // and hashing and storing requests takes a tenth of the time of a check.

  /// Makes a timer on the thread that performs checks; nil with another prober.
  func makeTimer(_ body: @escaping @Sendable () -> Void) -> ProberTimer? { (prober as? SocketProber)?.makeTimer(body) }

  func checkAlone(
    _ request: CheckRequest, _ completion: @escaping @Sendable (CheckOutcome) -> Void
  ) -> any CheckCancellation {
    let (check, cancellation) = coalescer.begin(request, completion)
    begin(check)
    return cancellation
  }

  /// Performs a check, without a policy, of an address to which there is a route (``CheckRules/isRoutable(_:)``).
  ///
  /// The route may be gone, because its loss is reported after the settle time. That delays no report: the kernel refuses the
  /// packet or the check fails, and after each failure the kernel is asked for the reason (``explain(_:of:_:)``).
  func checkRouted(
    _ request: CheckRequest, _ completion: @escaping @Sendable (CheckResult) -> Void
  ) -> any CheckCancellation {
    let named = withInterfaceName(request)
    guard request.target.scheme.descriptor.suffix == .path else {
      return prober.start(named, where: { _, _ in .allowed }, completion)
    }
    let route = CheckRules.routeTarget(request)
    return prober.start(
      named,
      where: { [self] address, port in
        // A redirect leads to another address or port.
        if CheckRules.isTarget(of: request, address, port) { return .allowed }
        return CheckRules.contactDecision(
          request, for: address, port, provisionalVerdict(for: address, port, on: route))
      }, completion)
  }

  /// Determines whether a check failed because of the target, or because of this machine's route.
  func explain(
    _ result: CheckResult, of request: CheckRequest, _ completion: @escaping @Sendable (CheckOutcome) -> Void
  ) {
    let (check, _) = coalescer.begin(request, completion)
    attribute(result, of: check, CheckRules.routeTarget(request), isRetry: false)
  }

  // MARK: - Steps

  private func begin(_ check: SharedCheck) {
    let request = check.request
    let start = CheckStartTime()
    let route = CheckRules.routeTarget(request)
    if request.moduleVerdict == .denied { return finish(check, Self.denial(start), nil) }
    if request.target.scheme == .route { return evaluate(route, for: check, start) }
    // A name may have local addresses even without a default route.
    guard case .address(let address) = route.remote else { return probe(check, route, nil) }
    if let verdict = verdictBefore(request, address, route, start) { return probe(check, route, verdict) }
    // A missing route may be a transient state, so it is confirmed by a lookup that waits for the kernel.
    monitor.evaluate(route) { [self] answer in
      let verdict = try? answer.get()
      guard let result = rejection(of: request, address, verdict, start) else { return probe(check, route, verdict) }
      finish(check, result, result.state == .unreachable ? verdict?.path : nil)
    }
  }

  /// Starts the prober.
  ///
  /// - Parameters:
  ///   - check: the check.
  ///   - route: the target whose route it uses.
  ///   - before: the verdict for the route, when its host is an address.
  ///   - isRetry: whether this is the second attempt.
  private func probe(
    _ check: SharedCheck, _ route: ReachabilityTarget, _ before: HostVerdict?, isRetry: Bool = false
  ) {
    let request = check.request
    let decision: @Sendable (IPAddress, UInt16?) -> ContactDecision = { [self] address, port in
      if CheckRules.isTarget(of: request, address, port), let before {
        return CheckRules.contactDecision(request, for: address, port, before)
      }
      return CheckRules.contactDecision(request, for: address, port, provisionalVerdict(for: address, port, on: route))
    }
    check.didStart(
      prober.start(withInterfaceName(request), where: decision) { [self] result in
        if result.state == .up, let verdict = verdictWithoutWaiting(result, route, before) {
          return end(check, result, verdict)
        }
        attribute(result, of: check, route, isRetry: isRetry)
      })
  }

  /// Looks up the route of a check, which may be the cause of its result, and ends it.
  private func attribute(_ result: CheckResult, of check: SharedCheck, _ route: ReachabilityTarget, isRetry: Bool) {
    let finished = ContinuousClock.now
    // The lookup concerns the past; later callers need a new check.
    coalescer.close(check)
    evaluate(route, after: result) { [self] verdict in
      // Nothing was sent for lack of a route that exists once the kernel has carried out its changes.
      let isMistaken = result.reason == .noRoute && verdict?.path.status.isReachable == true
      if isMistaken, !isRetry { return probe(check, route, verdict, isRetry: true) }
      end(check, result, verdict, at: finished)
    }
  }

  private func end(
    _ check: SharedCheck, _ result: CheckResult, _ verdict: HostVerdict?, at instant: ContinuousClock.Instant = .now
  ) {
    finish(
      check, CheckRules.attributed(result, verdict), result.address == nil ? nil : verdict?.path, at: instant)
  }

  func finish(
    _ check: SharedCheck, _ result: CheckResult, _ path: NetworkPath?, at instant: ContinuousClock.Instant = .now
  ) {
    coalescer.finish(check, CheckOutcome(request: check.request, result: result, path: path), at: instant)
  }
}

private struct NothingToCancel: CheckCancellation {
  func cancel() {}
}
