internal import Locks
public import NetworkReachability
internal import ReachabilityModel

/// Checks registered targets again and again, and at once when the way to one of them changes.
///
/// ```swift
/// let schedule = CheckSchedule(monitor: monitor, checker: checker)
/// // First of all, for what has happened before is not told; it stands in `reports()`.
/// let subscription = monitor.listen(to: .target) { update in
///   if let target = update.registeredTarget { print(target.definition.id, target.status.state) }
/// }
/// schedule.put(TargetDefinition(id: "db", target: try ProbeTarget("tcp://db:5432")))
/// ```
///
/// Changes of state are transitions of the monitor's one history, in order with those of this machine. A target whose own
/// way is missing turns `unreachable` by the kernel's word, without waiting for a check. Checks that this process slept
/// through are made again.
public final class CheckSchedule: Sendable {
  struct Guarded {
    var state: ScheduleState
    /// The targets behind each way that is watched.
    var ways: [ReachabilityTarget: Set<String>] = [:]
    /// What ends the checks that are under way, by their runs.
    var cancellations: [Int: any ProbeCancellation] = [:]
    /// Who waits for a target's next result.
    var waiting: [String: [@Sendable (CheckOutcome?) -> Void]] = [:]
    /// What the configuration says about its targets, whether or not somebody has paused them since; nil before the
    /// first.
    var configured: [String: TargetDefinition]?
    /// The ids in order; nil when they must be sorted anew.
    var order: [String]?
    /// When the timer fires.
    var wakes: Duration?
    var hasStopped = false
  }

  let guarded: Locked<Guarded>
  let monitor: ReachabilityMonitor
  private let checker: Checker
  let configuration: Configuration
  private let clock: any CheckClock
  private let timer: any CheckTimer
  let sink: WaySink
  /// Who watches the ways, for the engine.
  let watcher: Int

  /// A schedule without targets; `monitor` and `checker` live at least as long as it does.
  ///
  /// - Parameters:
  ///   - monitor: knows the ways, and has the history of changes.
  ///   - checker: makes the checks.
  ///   - configuration: its settings.
  ///   - clock: what the intervals are measured by; nil for this machine's.
  public init(
    monitor: ReachabilityMonitor, checker: Checker, configuration: Configuration = Configuration(),
    clock: (any CheckClock)? = nil
  ) {
    let clock = clock ?? MachineClock()
    self.clock = clock
    self.monitor = monitor
    self.checker = checker
    self.configuration = configuration
    watcher = monitor.makeWatcher()
    guarded = Locked(
      Guarded(
        state: ScheduleState(
          seed: StableHash.of(configuration.machine, seed: 0), concurrency: configuration.concurrency,
          perHost: configuration.perHost)))
    // The timer and the sink outlive nobody: what they wake may be gone.
    let gate = Gate()
    let timer = clock.makeTimer { gate.schedule?.takeWays() }
    self.timer = timer
    sink = WaySink { timer.fire() }
    gate.schedule = self
    monitor.attach(sink)
  }

  /// Breaks the circle between the schedule and what wakes it.
  private final class Gate: Sendable {
    private struct Reference: Sendable { weak var schedule: CheckSchedule? }
    private let reference = Locked(Reference())
    var schedule: CheckSchedule? {
      get { reference.withLock(\.schedule) }
      set { reference.withLock { $0.schedule = newValue } }
    }
  }

  deinit { stop() }

  /// This moment on both clocks; the first goes on while the machine sleeps.
  func now() -> ScheduleState.Moment { ScheduleState.Moment(uptime: clock.uptime, time: clock.time) }

  /// Ends all checks; nothing begins any more, and the ways are no longer watched.
  public func stop() {
    monitor.detach(sink)
    let (cancellations, waiting) = guarded.withLock { guarded in
      guarded.hasStopped = true
      for way in guarded.ways.keys { monitor.unwatch(way, for: watcher) }
      defer {
        guarded.ways = [:]
        guarded.cancellations = [:]
        guarded.waiting = [:]
      }
      return (Array(guarded.cancellations.values), guarded.waiting.values.flatMap(\.self))
    }
    for cancellation in cancellations { cancellation.cancel() }
    for completion in waiting { completion(nil) }
  }

  // MARK: - Turns

  /// Has the timer fire when the state wants to be looked at, if that is earlier than it would.
  func rearm(_ guarded: inout Guarded, _ now: ScheduleState.Moment) {
    guard !guarded.hasStopped, let next = guarded.state.nextWake(after: now.uptime) else { return }
    if let wakes = guarded.wakes, wakes <= next, wakes > now.uptime { return }
    guarded.wakes = next
    timer.fire(at: next)
  }

  /// Begins what is due.
  private func turn() {
    let launches = guarded.withLock { guarded -> [ScheduleState.Launch] in
      guard !guarded.hasStopped else { return [] }
      let now = now()
      guarded.wakes = nil
      let launches = guarded.state.launches(at: now)
      rearm(&guarded, now)
      return launches
    }
    guard !launches.isEmpty else { return }
    let policy = launches.contains { $0.origin == .runtime } ? configuration.policy() : nil
    for launch in launches { begin(launch, policy) }
  }

  private func begin(_ launch: ScheduleState.Launch, _ policy: ContactPolicy?) {
    let definition = launch.definition
    let request = ProbeRequest(
      definition.target, module: definition.module, timeout: definition.timeout,
      policy: launch.origin == .runtime ? policy : nil)
    let cancellation = checker.check(request) { [weak self] outcome in self?.end(launch, outcome) }
    let isOver = guarded.withLock { guarded in
      let isOver = guarded.hasStopped || guarded.state.runs[launch.run] == nil
      if !isOver { guarded.cancellations[launch.run] = cancellation }
      return isOver
    }
    // Harmless when it has ended by itself.
    if isOver { cancellation.cancel() }
  }

  private func end(_ launch: ScheduleState.Launch, _ outcome: CheckOutcome) {
    let (tell, waiting) = guarded.withLock { guarded in
      let now = now()
      guarded.cancellations[launch.run] = nil
      defer { rearm(&guarded, now) }
      let ending = guarded.state.finish(launch.run, outcome.result, settle: monitor.settle, at: now)
      if ending == .overruled { monitor.tell(launch.definition.target.host, to: sink) }
      guard let news = ending.counted else {
        return (monitor.record([], at: now.time), [] as [@Sendable (CheckOutcome?) -> Void])
      }
      let waiting = guarded.waiting.removeValue(forKey: launch.id) ?? []
      // Numbered under this lock, so that the history has a target's states in the order in which they were.
      return (monitor.record(news, at: now.time), waiting)
    }
    tell()
    for completion in waiting { completion(outcome) }
  }

  /// Takes in what the kernel says about the ways, and begins what is due.
  private func takeWays() {
    var changes = sink.drain()[...]
    while !changes.isEmpty {
      let part = changes.prefix(Limits.recordedAtOnce)
      changes = changes.dropFirst(part.count)
      // Of names that are not known yet only, and before the lock: the kernel is asked.
      let isAnyUnresolved = part.contains { $0.verdict.phase == .optimistic && $0.verdict.path.status == .notReachable }
      let reachesNameServer = !isAnyUnresolved || monitor.reachesNameServer
      let tell = guarded.withLock { guarded in
        let now = now()
        var news: [TargetNews] = []
        for change in part {
          for id in guarded.ways[change.verdict.target] ?? [] {
            let one = guarded.state.wayChanged(
              id, change.verdict, isFirst: change.isFirst, change.causes, reachesNameServer: reachesNameServer, at: now)
            if let one { news.append(one) }
          }
        }
        return monitor.record(news, at: now.time)
      }
      tell()
    }
    turn()
  }

  /// Has the state looked at now rather than at the next tick.
  func hasten() { timer.fire() }
}
