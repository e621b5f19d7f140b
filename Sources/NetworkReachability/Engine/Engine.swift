internal import Locks
internal import Logging
internal import ReachabilityModel

/// Guards ``EngineState`` with a lock: readings arrive on the source's thread, requests on any thread.
///
/// Numbers are assigned and updates are put into all mailboxes and sinks within one critical section, so that every
/// subscriber receives them in the same order. Subscribers' code runs after it, without the lock.
final class Engine: Sendable {
  private let guarded: Locked<Guarded>
  private let log: EngineTransitionLog
  private let names: NameWatcher
  private let source: ActiveKernelSource

  struct Guarded {
    var state: EngineState
    var subscriptions: [Int: (subscriber: any Subscriber, filter: SubscriptionFilter)] = [:]
    var lastSubscription = 0
    var subscribers = TargetSubscribers()
    var sinks: [any TransitionSink] = []
    var observers: [any ReevaluationObserver] = []
    /// The source generation whose readings are accepted.
    var generation = 0
  }

  init(
    settle: Duration, permitting requirement: InterfaceRequirement, names: NameWatcher, source: ActiveKernelSource,
    logger: Logger
  ) {
    guarded = Locked(Guarded(state: EngineState(settle: settle, permitting: requirement)))
    self.names = names
    self.source = source
    log = EngineTransitionLog(logger)
    names.attach(self)
  }

  /// The delay before a loss is reported; a loss that is pending keeps its time.
  var settle: Duration {
    get { guarded.withLock { $0.state.settle } }
    set { guarded.withLock { $0.state.settle = newValue } }
  }

  var nameTimeout: Duration {
    get { names.timeout }
    set { names.timeout = newValue }
  }

  /// Requests a reading, because the set of lookups has changed.
  func refreshSource() { source.current?.refresh() }

  /// Continues the sequence of an earlier process; no effect after the first reading.
  func restore(_ state: RestoredEngineState) { guarded.withLock { $0.state.restore(state) } }

  // MARK: - Readings

  /// Starts a source generation; the readings of earlier ones are ignored from now on.
  func beginGeneration() -> KernelSourceGeneration {
    let number = guarded.withLock { guarded in
      guarded.generation += 1
      return guarded.generation
    }
    return KernelSourceGeneration(number: number, engine: self)
  }

  /// Runs `body` on the state under the lock; returns nil without running it when `generation` has ended.
  func withState<Result: Sendable>(
    in generation: Int, _ body: @Sendable (inout EngineState) -> Result
  ) -> Result? {
    guarded.withLock { guarded in guarded.generation == generation ? body(&guarded.state) : nil }
  }

  /// Applies a reading and publishes its effect.
  ///
  /// - Returns: when the source must read again without an event; nil for never.
  func ingest(_ reading: KernelReading, in generation: Int) -> Duration? {
    let (deadline, transitions, woken) = guarded.withLock {
      guarded -> (Duration?, [Transition], [any Subscriber]) in
      guard guarded.generation == generation else { return (nil, [], []) }
      let wasFirst = !guarded.state.hasReading
      let outcome = guarded.state.ingest(reading)
      guarded.notifyObservers(outcome)
      let publication = guarded.state.transitions(of: outcome)
      let woken = guarded.publish(publication, asInitial: wasFirst)
      return (guarded.state.nextDeadline, publication.transitions, woken)
    }
    finishPublishing(transitions, woken)
    // During sleep the machine may have moved to another network that looks the same.
    if reading.causes.contains(.resume) { names.renew() }
    return deadline
  }

  /// Publishes that the kernel can no longer be read.
  func kernelFailed(at time: Timestamp, in generation: Int) {
    let (transitions, woken) = guarded.withLock { guarded -> ([Transition], [any Subscriber]) in
      guard guarded.generation == generation else { return ([], []) }
      let publication = guarded.state.kernelFailed(at: time)
      return (publication.transitions, guarded.publish(publication, asInitial: false))
    }
    finishPublishing(transitions, woken)
  }

  /// Wakes subscribers, logs, and renews names: the effects of a publication that need no lock.
  private func finishPublishing(_ transitions: [Transition], _ woken: [any Subscriber]) {
    for subscriber in woken { subscriber.wake() }
    log.write(transitions)
    if transitions.contains(where: { !$0.kind.isDisjoint(with: [.status, .path]) }) { names.renew() }
  }

  // MARK: - Registered targets

  /// Numbers changes of registered targets, and then those of gates, in one sequence with those of this machine, and
  /// publishes them.
  ///
  /// - Returns: the effects that remain, for the caller to run without a lock.
  func record(
    _ changes: [EngineTargetChange], _ gates: [EngineGateChange] = [], at time: Timestamp
  ) -> @Sendable () -> Void {
    guard !changes.isEmpty || !gates.isEmpty else { return {} }
    let (transitions, woken) = guarded.withLock { guarded -> ([Transition], [any Subscriber]) in
      var transitions = changes.map { guarded.state.number($0, at: time) }
      for gate in gates { transitions.append(guarded.state.number(gate, at: time)) }
      return (transitions, guarded.publish(EnginePublication(transitions: transitions), asInitial: false))
    }
    return { [self] in finishPublishing(transitions, woken) }
  }

  /// Watches a target for a schedule, without a subscription; the transitions go to the attached sinks.
  ///
  /// - Parameters:
  ///   - target: the target.
  ///   - watcher: the watcher's number.
  ///   - sink: receives the present verdict, if there is one.
  func watch(_ target: ReachabilityTarget, for watcher: Int, reportingTo sink: some VerdictSink) {
    guarded.withLock { guarded in
      _ = guarded.state.watch(target, forSchedule: true)
      guarded.report(target, to: sink)
    }
    names.watch(target, for: watcher)
  }

  /// Reports the present verdict for a watched target to a sink again.
  func report(_ target: ReachabilityTarget, to sink: some VerdictSink) {
    guarded.withLock { $0.report(target, to: sink) }
  }

  /// A number for a watcher without a subscription.
  func makeWatcherID() -> Int {
    guarded.withLock { guarded in
      guarded.lastSubscription += 1
      return guarded.lastSubscription
    }
  }

  /// Stops to watch a target for a schedule.
  func unwatch(_ target: ReachabilityTarget, for watcher: Int) {
    guarded.withLock { $0.state.unwatch([target], forSchedule: true) }
    names.unwatch(target, for: watcher)
  }

  // MARK: - State

  var snapshot: Snapshot { guarded.withLock { $0.state.snapshot } }

  /// The tables of the last reading; nil before the first.
  var tables: KernelTables? { guarded.withLock { $0.state.hasReading ? $0.state.tables : nil } }

  func verdict(of target: ReachabilityTarget) -> HostVerdict? { guarded.withLock { $0.state.verdict(of: target) } }

  func watchedVerdicts(limit: Int) -> (verdicts: [HostVerdict], watched: Int) {
    guarded.withLock { $0.state.watchedVerdicts(limit: limit) }
  }

  // MARK: - Subscriptions

  /// Adds a subscriber and, in the same critical section, puts the present state into its mailbox, so that it misses no
  /// change and receives none twice.
  ///
  /// - Returns: the number for ``unsubscribe(_:)``; nil when the limit of targets is reached.
  func subscribe(_ subscriber: any Subscriber, _ filter: SubscriptionFilter) -> Int? {
    let number = guarded.withLock { guarded -> Int? in
      for (count, target) in filter.targets.enumerated() where !guarded.state.watch(target) {
        guarded.state.unwatch(filter.targets.prefix(count))
        return nil
      }
      guarded.lastSubscription += 1
      guarded.subscriptions[guarded.lastSubscription] = (subscriber, filter)
      guarded.subscribers.insert(guarded.lastSubscription, for: filter.targets, guarded.state)
      if guarded.state.hasReading { guarded.offerInitial(to: subscriber, filter) }
      return guarded.lastSubscription
    }
    guard let number else { return nil }
    subscriber.wake()
    if !filter.targets.isEmpty {
      for target in filter.targets { names.watch(target, for: number, client: filter.client) }
      // The subscription may have ended meanwhile, before the names were watched.
      if !isSubscribed(number) { filter.targets.forEach { names.unwatch($0, for: number) } }
      refreshSource()
    }
    return number
  }

  private func isSubscribed(_ number: Int) -> Bool {
    guarded.withLock { $0.subscriptions[number] != nil }
  }

  /// Ends a subscription; a delivery may still be in progress.
  func unsubscribe(_ number: Int) {
    // The subscriber is released outside the lock, because its deinitialization may run foreign code.
    let removed = guarded.withLock { guarded in
      let removed = guarded.subscriptions.removeValue(forKey: number)
      // Before the targets' identifiers may be reused.
      guarded.subscribers.remove(number, for: removed?.filter.targets ?? [], guarded.state)
      guarded.state.unwatch(removed?.filter.targets ?? [])
      removed?.subscriber.close()
      return removed
    }
    removed?.filter.targets.forEach { names.unwatch($0, for: number) }
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

  func attach(_ observer: any ReevaluationObserver) { guarded.withLock { $0.observers.append(observer) } }

  /// Applies the resolver's answer for a target; the next reading evaluates the target with it.
  func setResolution(_ resolution: NameResolution, of target: ReachabilityTarget) {
    guarded.withLock { $0.state.setResolution(resolution, of: target) }
  }

  /// Ends the source generation and every subscription, and removes what was read.
  ///
  /// - Returns: the subscribers; a delivery to them may still be in progress.
  func reset() -> [any Subscriber] {
    let removed = guarded.withLock { guarded in
      defer { guarded.subscriptions = [:] }
      guarded.generation += 1
      for (subscriber, filter) in guarded.subscriptions.values {
        guarded.state.unwatch(filter.targets)
        subscriber.close()
      }
      guarded.subscribers = TargetSubscribers()
      let unknown = guarded.state.reset(at: .now)
      for sink in guarded.sinks { sink.take(unknown, guarded.state.snapshot) }
      return guarded.subscriptions
    }
    for (number, subscription) in removed {
      subscription.filter.targets.forEach { names.unwatch($0, for: number) }
    }
    return removed.values.map(\.subscriber)
  }
}
