@_exported public import NetworkReachability
internal import Names
internal import Probes
public import ReachabilityModel

/// Makes active checks and says whose fault a failure is: the target's, or our own way's.
///
/// Equal checks at the same time are made once. A target whose own way out is missing is `unreachable` and not `down`; where
/// the target is an address, no packet is even tried then.
public final class Checker: Sendable {
  let monitor: ReachabilityMonitor
  private let prober: any Prober
  let names: Resolver
  private let board = CheckBoard()

  /// A checker that asks `prober` about targets and `monitor` about the way; both live at least as long as it does.
  public convenience init(monitor: ReachabilityMonitor, prober: any Prober) {
    self.init(monitor: monitor, prober: prober, names: monitor.lines.checks)
  }

  /// A checker with real sockets; no thread runs before the first check.
  ///
  /// - Parameters:
  ///   - monitor: knows the ways.
  ///   - forVisitors: whether its targets are what anybody asks for once. Their names are then not asked for in one line with
  ///     those that are checked again and again: names that no server answers could fill it.
  public convenience init(monitor: ReachabilityMonitor, forVisitors: Bool = false) {
    let names = forVisitors ? monitor.lines.visitors : monitor.lines.checks
    self.init(monitor: monitor, prober: SocketProber(resolver: names), names: names)
  }

  private init(monitor: ReachabilityMonitor, prober: any Prober, names: Resolver) {
    self.monitor = monitor
    self.prober = prober
    self.names = names
  }

  /// Makes one check, or shares one that is under way or fresh enough.
  ///
  /// - Parameters:
  ///   - request: what to do; requests that are equal share one check.
  ///   - maximumAge: how old an outcome may be that is given again; zero for a check that has not ended yet.
  ///   - completion: takes the outcome, exactly once, on any thread; it must not block.
  /// - Returns: the means to give up waiting: it ends the check when nobody else waits for it.
  @discardableResult
  public func check(
    _ request: ProbeRequest, maximumAge: Duration = .zero, _ completion: @escaping @Sendable (CheckOutcome) -> Void
  ) -> any ProbeCancellation {
    switch board.join(request, maximumAge, completion) {
    case .known(let outcome):
      completion(outcome)
      return NothingToCancel()
    case .joined(let place):
      return place
    case .first(let run, let place):
      begin(run)
      return place
    }
  }

  /// Makes one check and waits for its outcome; cancelling the task ends it with `unknown` and `cancelled`.
  public func check(_ request: ProbeRequest, maximumAge: Duration = .zero) async -> CheckOutcome {
    let handle = LateCancellation()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        handle.set(check(request, maximumAge: maximumAge) { continuation.resume(returning: $0) })
      }
    } onCancel: {
      handle.cancel()
    }
  }

  private func begin(_ run: CheckRun) {
    let request = run.request
    let start = Beginning()
    let way = CheckRules.target(request)
    if request.target.scheme == .route { return judge(way, for: run, start) }
    // Of a name nothing is known yet: its addresses may be near though the way out as such is missing.
    guard case .address(let address) = way.remote else { return probe(run, way, nil) }
    if let glance = monitor.glance(at: way), !glance.isBehind, refusal(request, address, glance.verdict, start) == nil {
      return probe(run, way, glance.verdict)
    }
    // That a way is missing may be over in a moment; it is worth waiting for the kernel.
    monitor.judge(way) { [self] answer in
      let verdict = try? answer.get()
      guard let result = refusal(request, address, verdict, start) else { return probe(run, way, verdict) }
      finish(run, result, result.state == .unreachable ? verdict?.path : nil)
    }
  }

  /// Sends what is to be sent.
  ///
  /// - Parameters:
  ///   - run: the check.
  ///   - way: the route-level question behind it.
  ///   - before: the verdict over the way, when its host is an address.
  ///   - isRetry: whether it is the second time.
  private func probe(_ run: CheckRun, _ way: ReachabilityTarget, _ before: HostVerdict?, isRetry: Bool = false) {
    let request = run.request
    let passage: @Sendable (IPAddress, UInt16?) -> Passage = { [self] address, port in
      if way.remote == .address(address), let before { return CheckRules.passage(request, to: address, port, before) }
      return CheckRules.passage(request, to: address, port, look(at: address, on: way))
    }
    run.began(
      prober.probe(request, where: passage) { [self] result in
        if result.state == .up, let verdict = known(result, way, before) { return end(run, result, verdict) }
        let answered = ContinuousClock.now
        // What the kernel is asked now is asked of what was; who asks from now on wants to know what is.
        board.close(run)
        judge(way, after: result) { [self] verdict in
          // It was not sent for want of a way that is there now, after all that was under way.
          let isMistaken = result.reason == .noRoute && verdict?.path.status.isReachable == true
          if isMistaken, !isRetry { return probe(run, way, verdict, isRetry: true) }
          end(run, result, verdict, at: answered)
        }
      })
  }

  /// The way of a target that has answered, where it can be told without waiting.
  ///
  /// Where it was there a moment ago the kernel need not be asked again; another host may have answered in the end.
  private func known(_ result: ProbeResult, _ way: ReachabilityTarget, _ before: HostVerdict?) -> HostVerdict? {
    guard let address = result.address else { return nil }
    if way.remote == .address(address), let before { return before }
    return look(at: address, on: way).flatMap { $0.isBehind ? nil : $0.verdict }
  }

  private func end(
    _ run: CheckRun, _ result: ProbeResult, _ verdict: HostVerdict?, at instant: ContinuousClock.Instant = .now
  ) {
    finish(run, CheckRules.judged(result, verdict), result.address == nil ? nil : verdict?.path, at: instant)
  }

  /// The result of a check of an address that is not made, because its way is missing, leads where the caller may not go,
  /// or is not known; nil when it is made.
  private func refusal(
    _ request: ProbeRequest, _ address: IPAddress, _ verdict: HostVerdict?, _ start: Beginning
  ) -> ProbeResult? {
    switch CheckRules.passage(request, to: address, request.target.port, verdict) {
    case .open: nil
    case .missing: verdict.flatMap { CheckRules.missingWay($0, startedAt: start.time, duration: start.elapsed) }
    case .denied where verdict.map { $0.path.status == .unknown } ?? true:
      ProbeResult(.unknown, .kernelUnavailable, startedAt: start.time, duration: start.elapsed)
    case .denied:
      ProbeResult(
        .unknown, .policyDenied, detail: "the policy does not allow to contact this target", startedAt: start.time,
        duration: .zero)
    }
  }

  func finish(
    _ run: CheckRun, _ result: ProbeResult, _ path: NetworkPath?, at instant: ContinuousClock.Instant = .now
  ) {
    board.finish(run, CheckOutcome(request: run.request, result: result, path: path), answeredAt: instant)
  }
}

/// When a check began.
struct Beginning {
  let time = Timestamp.now
  private let instant = ContinuousClock.now

  var elapsed: Duration { .now - instant }
}

private struct NothingToCancel: ProbeCancellation {
  func cancel() {}
}
