internal import Locks
internal import Logging
internal import ReachabilityModel

/// The lock around ``EngineState``: readings come in on the source's thread, questions from any.
///
/// Numbers are given and updates handed to every mailbox and sink inside one critical section, so that all hear the same
/// order. User code runs after it, never under it.
final class Engine: Sendable {
  private let guarded: Locked<Guarded>
  private let logger: Logger

  struct Guarded {
    var state: EngineState
    var subscriptions: [Int: (subscriber: any Subscriber, interest: Interest)] = [:]
    var nextSubscription = 0
    /// Who watches a target, by the numbers of the subscriptions.
    var watchers: [ReachabilityTarget: Set<Int>] = [:]
    var sinks: [any TransitionSink] = []
    var judgementSinks: [any JudgementSink] = []
    /// The number of the run whose readings count.
    var run = 0
  }

  private let names: NameWatcher
  private let source: SourceSlot

  init(
    settle: Duration, permitting requirement: InterfaceRequirement, names: NameWatcher, source: SourceSlot,
    logger: Logger
  ) {
    guarded = Locked(Guarded(state: EngineState(settle: settle, permitting: requirement)))
    self.names = names
    self.source = source
    self.logger = logger
    names.attach(self)
  }

  /// How long a loss waits before it is told; a loss that waits already keeps its time.
  var settle: Duration {
    get { guarded.withLock { $0.state.settle } }
    set { guarded.withLock { $0.state.settle = newValue } }
  }

  /// How long the name servers have for a watched name.
  var nameTimeout: Duration {
    get { names.timeout }
    set { names.timeout = newValue }
  }

  /// Has the source read again, because the questions have changed.
  func refreshSource() { source.current?.refresh() }

  // MARK: - Readings

  /// Begins the run of a source; the readings of those before no longer count.
  func beginRun() -> EngineRun {
    let number = guarded.withLock { guarded in
      guarded.run += 1
      return guarded.run
    }
    return EngineRun(number: number, engine: self)
  }

  func routeQueries(for survey: KernelSurvey, in run: Int) -> [RouteQuery] {
    guarded.withLock { $0.run == run ? $0.state.routeQueries(for: survey) : [] }
  }

  func needsRouteBlocks(isAfterLoss: Bool) -> Bool {
    guarded.withLock { $0.state.needsRouteBlocks(isAfterLoss: isAfterLoss) }
  }

  func differences(in audit: KernelReading, _ run: Int) -> Int {
    guarded.withLock { $0.run == run ? $0.state.differences(in: audit) : 0 }
  }

  func ingest(_ reading: KernelReading, in run: Int) -> Duration? {
    let (deadline, transitions, woken) = guarded.withLock {
      guarded -> (Duration?, [Transition], [any Subscriber]) in
      guard guarded.run == run else { return (nil, [], []) }
      let wasFirst = !guarded.state.hasReading
      let outcome = guarded.state.ingest(reading)
      guarded.tellJudged(outcome)
      let transitions = guarded.state.transitions(of: outcome)
      let woken = guarded.publish(transitions, asInitial: wasFirst)
      return (guarded.state.nextDeadline, transitions, woken)
    }
    report(transitions, woken)
    // Asleep, the machine may have been carried to another network that looks the same.
    if reading.causes.contains(.resume) { names.renew() }
    return deadline
  }

  func kernelFailed(at time: Timestamp, in run: Int) {
    let (transitions, woken) = guarded.withLock { guarded -> ([Transition], [any Subscriber]) in
      guard guarded.run == run else { return ([], []) }
      let transitions = guarded.state.kernelFailed(at: time)
      return (transitions, guarded.publish(transitions, asInitial: false))
    }
    report(transitions, woken)
  }

  private func report(_ transitions: [Transition], _ woken: [any Subscriber]) {
    for subscriber in woken { subscriber.wake() }
    TransitionLog.write(transitions, to: logger)
    if transitions.contains(where: { !$0.kind.isDisjoint(with: [.status, .path]) }) { names.renew() }
  }

  // MARK: - Registered targets

  /// Numbers changes of registered targets among the machine's own, and hands them to all who hear those.
  ///
  /// - Returns: what is to be done about it without any lock.
  func record(_ news: [TargetNews], at time: Timestamp) -> @Sendable () -> Void {
    guard !news.isEmpty else { return {} }
    let (transitions, woken) = guarded.withLock { guarded -> ([Transition], [any Subscriber]) in
      let transitions = news.map { guarded.state.number($0, at: time) }
      return (transitions, guarded.publish(transitions, asInitial: false))
    }
    return { [self] in report(transitions, woken) }
  }

  /// Watches a target without a subscription, for a schedule; its transitions come to the sinks.
  ///
  /// - Parameters:
  ///   - target: what is watched.
  ///   - watcher: for whom.
  ///   - sink: takes the verdict as it is, if there is one.
  func watch(_ target: ReachabilityTarget, for watcher: Int, telling sink: some VerdictSink) {
    guarded.withLock { guarded in
      _ = guarded.state.watch(target, forSchedule: true)
      guarded.tell(target, to: sink)
    }
    names.watch(target, for: watcher)
  }

  /// Tells a sink once more what the verdict over a watched target is.
  func tell(_ target: ReachabilityTarget, to sink: some VerdictSink) { guarded.withLock { $0.tell(target, to: sink) } }

  /// A number for one who watches without a subscription.
  func makeWatcher() -> Int {
    guarded.withLock { guarded in
      guarded.nextSubscription += 1
      return guarded.nextSubscription
    }
  }

  /// Stops watching for the schedule.
  func unwatch(_ target: ReachabilityTarget, for watcher: Int) {
    guarded.withLock { $0.state.unwatch([target], forSchedule: true) }
    names.unwatch(target, for: watcher)
  }

  // MARK: - Questions

  var snapshot: Snapshot { guarded.withLock { $0.state.snapshot } }

  /// The tables of the last reading; nil before the first.
  var tables: KernelTables? { guarded.withLock { $0.state.hasReading ? $0.state.tables : nil } }

  func verdict(of target: ReachabilityTarget) -> HostVerdict? { guarded.withLock { $0.state.verdict(of: target) } }

  func watchedVerdicts(limit: Int) -> (verdicts: [HostVerdict], watched: Int) {
    guarded.withLock { $0.state.watchedVerdicts(limit: limit) }
  }

  // MARK: - Subscriptions

  /// Adds a subscriber and, in the same critical section, puts the state as it is into its mailbox, so that it misses
  /// nothing and hears nothing twice.
  ///
  /// - Returns: the number that ends the subscription; nil when too many targets are watched.
  func subscribe(_ subscriber: any Subscriber, _ interest: Interest) -> Int? {
    let number = guarded.withLock { guarded -> Int? in
      for (count, target) in interest.targets.enumerated() where !guarded.state.watch(target) {
        guarded.state.unwatch(interest.targets.prefix(count))
        return nil
      }
      guarded.nextSubscription += 1
      guarded.subscriptions[guarded.nextSubscription] = (subscriber, interest)
      for target in interest.targets { guarded.watchers[target, default: []].insert(guarded.nextSubscription) }
      if guarded.state.hasReading { guarded.offerInitial(to: subscriber, interest) }
      return guarded.nextSubscription
    }
    guard let number else { return nil }
    subscriber.wake()
    if !interest.targets.isEmpty {
      interest.targets.forEach { names.watch($0, for: number, visiting: interest.isVisitors) }
      // It may have ended meanwhile, with nothing to take back yet.
      if !isSubscribed(number) { interest.targets.forEach { names.unwatch($0, for: number) } }
      refreshSource()
    }
    return number
  }

  private func isSubscribed(_ number: Int) -> Bool {
    guarded.withLock { $0.subscriptions[number] != nil }
  }

  /// Ends a subscription; a delivery may still be under way.
  func unsubscribe(_ number: Int) {
    // Let go of the subscriber outside the lock: foreign objects may go with it.
    let removed = guarded.withLock { guarded in
      let removed = guarded.subscriptions.removeValue(forKey: number)
      guarded.state.unwatch(removed?.interest.targets ?? [])
      for target in removed?.interest.targets ?? [] {
        guarded.watchers[target]?.remove(number)
        if guarded.watchers[target]?.isEmpty == true { guarded.watchers[target] = nil }
      }
      removed?.subscriber.close()
      return removed
    }
    removed?.interest.targets.forEach { names.unwatch($0, for: number) }
  }

  func attach(_ sink: any TransitionSink) {
    guarded.withLock { guarded in
      guarded.sinks.append(sink)
      sink.take([], guarded.state.snapshot)
    }
  }

  func detach(_ sink: any TransitionSink) {
    guarded.withLock { guarded in guarded.sinks.removeAll { $0 === sink } }
  }

  func attach(_ sink: any JudgementSink) { guarded.withLock { $0.judgementSinks.append(sink) } }

  /// Takes in what the resolver found; the next reading judges by it.
  func resolved(_ target: ReachabilityTarget, _ resolution: NameResolution) {
    guarded.withLock { $0.state.resolved(target, resolution) }
  }

  /// Ends the run and every subscription, and forgets what was read.
  ///
  /// - Returns: those who subscribed; a delivery to them may still be under way.
  func reset() -> [any Subscriber] {
    let removed = guarded.withLock { guarded in
      defer { guarded.subscriptions = [:] }
      guarded.run += 1
      for (subscriber, interest) in guarded.subscriptions.values {
        guarded.state.unwatch(interest.targets)
        subscriber.close()
      }
      guarded.watchers = [:]
      let unknown = guarded.state.reset(at: .now)
      for sink in guarded.sinks { sink.take(unknown, guarded.state.snapshot) }
      return guarded.subscriptions
    }
    for (number, subscription) in removed {
      subscription.interest.targets.forEach { names.unwatch($0, for: number) }
    }
    return removed.values.map(\.subscriber)
  }
}
