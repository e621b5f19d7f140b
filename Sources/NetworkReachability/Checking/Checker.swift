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
    if case .address = way.remote {
      before = try? monitor.evaluate(way)
      if let before, let result = CheckRules.missingWay(before, startedAt: startedAt, duration: .now - start) {
        finish(run, result, before.path)
        return
      }
    }
    let hasWay: @Sendable (IPAddress) -> Bool = { [self, before] address in
      if before != nil { return true }
      guard let verdict = verdict(over: way, at: address) else { return true }
      return CheckRules.missingWay(verdict, startedAt: startedAt, duration: .zero) == nil
    }
    run.began(
      prober.probe(request, where: hasWay) { [self, before] result in
        // Where it was there a moment ago and the target has answered, the kernel need not be asked again.
        let verdict = result.state == .up && before != nil ? before : verdict(over: way, after: result)
        finish(run, CheckRules.judged(result, verdict), result.address == nil ? nil : verdict?.path)
      })
  }

  /// The way to the address that was asked; without one, to the host as far as it is known.
  private func verdict(over way: Target, after result: ProbeResult) -> HostVerdict? {
    guard let address = result.address else { return try? monitor.evaluate(way) }
    return verdict(over: way, at: address)
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
    // What a test scripts is not asked for.
    guard monitor.names == nil else { return monitor.resolve(name, timeout: run.request.timeout, judge) }
    names.resolve(name, timeout: run.request.timeout) { judge(NameResolution($0)) }
  }

  private func finish(_ run: CheckRun, _ result: ProbeResult, _ path: Path?) {
    board.finish(run, CheckOutcome(request: run.request, result: result, path: path))
  }
}

private struct NothingToCancel: ProbeCancellation {
  func cancel() {}
}
