internal import Locks
public import NetworkReachability
internal import Probers
internal import ReachabilityModel

/// Checks registered targets periodically, and immediately when the route to one of them changes.
///
/// ```swift
/// let schedule = CheckSchedule(monitor: monitor, checker: checker)
/// // First, because earlier changes are not delivered; `reports()` has the present state.
/// let subscription = monitor.listen(to: .target) { update in
///   if let target = update.registeredTarget { print(target.definition.id, target.status.state) }
/// }
/// schedule.put(TargetDefinition(id: "db", target: try CheckTarget("tcp://db:5432")))
/// ```
///
/// Changes of state are transitions of the monitor, in one sequence with those of this machine. A target whose route is
/// missing becomes `unreachable` by the kernel's report, without a check. Checks during which this process was suspended are
/// repeated.
public final class CheckSchedule: Sendable {
  let guarded: Locked<TargetRegistry>
  let monitor: ReachabilityMonitor
  let configuration: ScheduleConfiguration
  private let checker: Checker
  private let clock: any CheckClock
  /// Applies route changes, and starts many checks at once.
  private let timer: any CheckTimer
  /// Starts checks at their planned times, on the thread that performs them; nil with another clock or prober.
  private let starter: ProberTimer?
  let observer: ScheduleRouteObserver
  private let machineObserver: GateMachineObserver

  /// A schedule without targets.
  ///
  /// - Parameters:
  ///   - monitor: watches the routes and publishes the changes; it must outlive the schedule.
  ///   - checker: performs the checks; it must outlive the schedule.
  ///   - configuration: its settings.
  ///   - clock: measures the intervals; nil for this machine's clocks.
  public init(
    monitor: ReachabilityMonitor, checker: Checker, configuration: ScheduleConfiguration = ScheduleConfiguration(),
    clock: (any CheckClock)? = nil
  ) {
    // The times of another clock do not pass with those of the prober's thread.
    let reference = WeakReference<CheckSchedule>()
    starter = clock == nil ? checker.makeTimer { reference.object?.startChecks(limit: Limits.threadBurst) } : nil
    let clock = clock ?? SystemCheckClock()
    self.clock = clock
    self.monitor = monitor
    self.checker = checker
    self.configuration = configuration
    // The timers and the observer may outlive the schedule.
    let timer = clock.makeTimer { reference.object?.applyRouteChanges() }
    self.timer = timer
    observer = ScheduleRouteObserver { timer.fire() }
    machineObserver = GateMachineObserver { timer.fire() }
    guarded = Locked(
      TargetRegistry(
        ScheduleState(
          seed: SchedulePhaseHash.of(configuration.machine, seed: 0), concurrency: configuration.concurrency,
          perHost: configuration.perHost, limits: configuration.limits),
        monitor, reportingTo: observer, machineObserver))
    reference.object = self
    monitor.attach(observer)
    monitor.attach(machineObserver)
  }

  deinit { stop() }

  /// The present time on both clocks; the first includes sleep.
  func now() -> ScheduleMoment { ScheduleMoment(uptime: clock.uptime, time: clock.time) }

  /// Cancels all checks, starts no more, and stops to watch the routes.
  public func stop() {
    monitor.detach(observer)
    monitor.detach(machineObserver)
    let (cancellations, waiting) = guarded.withLock { $0.stop() }
    for cancellation in cancellations { cancellation.cancel() }
    for completion in waiting { completion(nil) }
  }

  // MARK: - Checks

  /// Arms the timer for the state's next deadline, unless it fires earlier.
  func rearm(_ guarded: inout TargetRegistry, _ now: ScheduleMoment) {
    // Nothing is planned before the next tick, at which the timer fires already in most calls.
    let nextTick = Limits.wheelTick * (now.uptime.ticks + 1)
    if let wakeTime = guarded.wakeTime, wakeTime > now.uptime, wakeTime <= nextTick { return }
    let deadlines = [guarded.state.nextDeadline(after: now.uptime), guarded.gates.nextDeadline]
    guard !guarded.hasStopped, let next = deadlines.compactMap(\.self).min() else { return }
    if let wakeTime = guarded.wakeTime, wakeTime <= next, wakeTime > now.uptime { return }
    guarded.wakeTime = next
    // Many starts would delay the reading of answers on the prober's thread.
    if !guarded.state.hasWaitingStarts, starter?.fire(after: next - now.uptime) == true { return }
    timer.fire(at: next)
  }

  /// Fires the timer now rather than at the next tick.
  func reschedule() { timer.fire() }

  func startChecks(limit: Int = Limits.checkBurst) {
    let (starts, awaited, publish) = guarded.withLock { guarded -> ([CheckStart], Set<String>, @Sendable () -> Void) in
      guard !guarded.hasStopped else { return ([], [], {}) }
      let now = now()
      guarded.wakeTime = nil
      let publish = guarded.advanceGates(at: now)
      let starts = guarded.state.takeStarts(at: now, limit: limit)
      rearm(&guarded, now)
      return (starts, Set(guarded.waiting.keys), publish)
    }
    publish()
    guard !starts.isEmpty else { return }
    let policy = starts.contains { $0.origin != .configuration } ? configuration.policy() : nil
    for start in starts { begin(start, policy, isAwaited: awaited.contains(start.id)) }
  }

  private func begin(_ start: CheckStart, _ policy: ContactPolicy?, isAwaited: Bool) {
    let request = request(start, start.origin == .configuration ? nil : policy)
    let cancellation: any CheckCancellation
    if isAwaited {
      // A caller receives the route, too, which is looked up then.
      cancellation = checker.check(request) { [weak self] outcome in self?.end(start, outcome.result, outcome) }
    } else if start.hasRoute, request.policy == nil, CheckRules.isRoutable(request.target) {
      cancellation = checker.checkRouted(request) { [weak self] result in
        guard let self else { return }
        if result.state == .up { end(start, result) } else { explain(result, of: start) }
      }
    } else {
      cancellation = checker.checkAlone(request) { [weak self] outcome in self?.end(start, outcome.result, outcome) }
    }
    let isOver = guarded.withLock { guarded in
      let isOver = guarded.hasStopped || !start.run.isRunning
      if !isOver { guarded.cancellations[start.run.number] = cancellation }
      return isOver
    }
    // No effect when the check has ended.
    if isOver { cancellation.cancel() }
  }

  private func explain(_ result: CheckResult, of start: CheckStart) {
    let request = request(start, nil)
    checker.explain(result, of: request) { [weak self] outcome in self?.end(start, outcome.result, outcome) }
  }

  /// Applies a result; without an outcome, that of a target that is up has the published path.
  private func end(_ start: CheckStart, _ result: CheckResult, _ outcome: CheckOutcome? = nil) {
    let (publish, waiting, isCounted, observeFailure) = guarded.withLock { guarded in
      let now = now()
      guarded.cancellations[start.run.number] = nil
      defer { rearm(&guarded, now) }
      let effect = guarded.state.finish(start.run, result, settle: monitor.settle, at: now)
      if case .contradicted = effect { guarded.routes.report(start.definition.target.routeTarget, to: start.id) }
      let isAwaited = effect.changes != nil && !guarded.waiting.isEmpty
      let waiting = isAwaited ? guarded.waiting.removeValue(forKey: start.id) ?? [] : []
      // Numbered under this lock, so that the changes of a target are published in order.
      let observe = start.isFirstFailure(effect, result) ? guarded.observeFirstFailure : nil
      return (guarded.record(effect.changes ?? [], of: [start.id], at: now), waiting, effect.isCounted, observe)
    }
    publish()
    observeFailure?(start.id)
    if isCounted, result.reason != .cancelled { configuration.record?(start.id, result) }
    for completion in waiting { completion(outcome ?? publishedOutcome(start, result)) }
  }
}
