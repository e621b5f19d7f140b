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
  private let names: Resolver
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
    let startedAt = Timestamp.now
    let start = ContinuousClock.now
    let way = CheckRules.target(request)
    if request.target.scheme == .route {
      judge(way, for: run, startedAt, start)
      return
    }
    // Of a name nothing is known yet: its addresses may be near though the way out as such is missing.
    var before: HostVerdict?
    if case .address(let address) = way.remote {
      before = try? monitor.evaluate(way)
      if let result = refusal(request, address, before, startedAt, start) {
        finish(run, result, result.state == .unreachable ? before?.path : nil)
        return
      }
    }
    let passage: @Sendable (IPAddress, UInt16?) -> Passage = { [self, before] address, port in
      let known = way.remote == .address(address) ? before : nil
      return CheckRules.passage(request, to: address, port, known ?? verdict(over: way, at: address))
    }
    run.began(
      prober.probe(request, where: passage) { [self, before] result in
        // Where it was there a moment ago and the target has answered, the kernel need not be asked again; another host
        // may have answered in the end.
        let isSame = result.state == .up && result.address.map { way.remote == .address($0) } == true
        let verdict = isSame && before != nil ? before : verdict(over: way, after: result)
        finish(run, CheckRules.judged(result, verdict), result.address == nil ? nil : verdict?.path)
      })
  }

  /// The result of a check of an address that is not made, because its way is missing, leads where the caller may not go,
  /// or is not known; nil when it is made.
  private func refusal(
    _ request: ProbeRequest, _ address: IPAddress, _ verdict: HostVerdict?, _ startedAt: Timestamp,
    _ start: ContinuousClock.Instant
  ) -> ProbeResult? {
    switch CheckRules.passage(request, to: address, request.target.port, verdict) {
    case .open: nil
    case .missing: verdict.flatMap { CheckRules.missingWay($0, startedAt: startedAt, duration: .now - start) }
    case .denied where verdict == nil:
      ProbeResult(.unknown, .kernelUnavailable, startedAt: startedAt, duration: .now - start)
    case .denied:
      ProbeResult(
        .unknown, .policyDenied, detail: "the policy does not allow to contact this target", startedAt: startedAt,
        duration: .zero)
    }
  }

  /// The way to the address that was asked; where there was none, to the last known ones, or to the host as such when its
  /// name could not be asked for at all.
  private func verdict(over way: Target, after result: ProbeResult) -> HostVerdict? {
    if let address = result.address { return verdict(over: way, at: address) }
    // That there is no such name is an answer: somebody was reached.
    guard result.reason != .dnsNotFound else { return nil }
    if let known = monitor.verdict(of: way), known.phase == .resolved, !known.addresses.isEmpty {
      return try? monitor.evaluate(way, resolution: .addresses(known.addresses.map(\.address)))
    }
    guard let verdict = try? monitor.evaluate(way) else { return nil }
    return CheckRules.isWayMissing(verdict, monitor.reachesNameServer) ? verdict : nil
  }

  private func verdict(over way: Target, at address: IPAddress) -> HostVerdict? {
    var way = way
    way.remote = .address(address)
    return try? monitor.evaluate(way)
  }

  /// A `route` target: the kernel's answer is the check.
  private func judge(_ way: Target, for run: CheckRun, _ startedAt: Timestamp, _ start: ContinuousClock.Instant) {
    let judge: @Sendable (NameResolution) -> Void = { [self] resolution in
      guard let verdict = try? monitor.evaluate(way, resolution: resolution) else {
        let result = ProbeResult(.unknown, .kernelUnavailable, startedAt: startedAt, duration: .now - start)
        finish(run, result, nil)
        return
      }
      finish(run, CheckRules.result(of: verdict, startedAt: startedAt, duration: .now - start), verdict.path)
    }
    guard case .name(let name) = way.remote else { return judge(.pending) }
    monitor.resolve(name, in: names, timeout: run.request.timeout, judge)
  }

  private func finish(_ run: CheckRun, _ result: ProbeResult, _ path: Path?) {
    board.finish(run, CheckOutcome(request: run.request, result: result, path: path))
  }
}

private struct NothingToCancel: ProbeCancellation {
  func cancel() {}
}
