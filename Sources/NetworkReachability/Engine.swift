internal import Locks
internal import Logging
internal import ReachabilityModel

/// The lock around ``EngineState``: readings come in on the source's thread, questions from any.
///
/// Numbers are given and updates handed to every mailbox and sink inside one critical section, so that all hear the same
/// order. User code runs after it, never under it.
final class Engine: KernelObserver {
  private let guarded: Locked<Guarded>
  private let logger: Logger

  fileprivate struct Guarded {
    var state: EngineState
    var subscriptions: [Int: (subscriber: any Subscriber, interest: Interest)] = [:]
    var nextSubscription = 0
    var sinks: [any TransitionSink] = []
  }

  private let names: NameWatcher
  private let source: SourceSlot

  init(settle: Duration, names: NameWatcher, source: SourceSlot, logger: Logger) {
    guarded = Locked(Guarded(state: EngineState(settle: settle)))
    self.names = names
    self.source = source
    self.logger = logger
    names.attach(self)
  }

  /// Has the source read again, because the questions have changed.
  func refreshSource() { source.current?.refresh() }

  // MARK: - KernelObserver

  func routeQueries(for tables: KernelTables) -> [RouteQuery] {
    guarded.withLock { $0.state.routeQueries(for: tables) }
  }

  func ingest(_ reading: KernelReading) -> Duration? {
    let (deadline, transitions, woken) = guarded.withLock { guarded in
      let wasFirst = !guarded.state.hasReading
      let transitions = guarded.state.ingest(reading)
      let woken = guarded.publish(transitions, asInitial: wasFirst)
      return (guarded.state.nextDeadline, transitions, woken)
    }
    report(transitions, woken)
    return deadline
  }

  func kernelFailed(_ error: KernelError, at time: Timestamp) {
    let (transitions, woken) = guarded.withLock { guarded in
      let transitions = guarded.state.kernelFailed(at: time)
      return (transitions, guarded.publish(transitions, asInitial: false))
    }
    report(transitions, woken)
  }

  private func report(_ transitions: [Transition], _ woken: [any Subscriber]) {
    for transition in transitions { TransitionLog.write(transition, to: logger) }
    for subscriber in woken { subscriber.wake() }
    if transitions.contains(where: { !$0.kind.isDisjoint(with: [.status, .path]) }) { names.pathChanged() }
  }

  // MARK: - Questions

  var snapshot: Snapshot { guarded.withLock { $0.state.snapshot } }

  /// The tables of the last reading; nil before the first.
  var tables: KernelTables? { guarded.withLock { $0.state.hasReading ? $0.state.tables : nil } }

  func verdict(of target: Target) -> HostVerdict? { guarded.withLock { $0.state.verdict(of: target) } }

  // MARK: - Subscriptions

  /// Adds a subscriber and, in the same critical section, puts the state as it is into its mailbox, so that it misses
  /// nothing and hears nothing twice.
  ///
  /// - Returns: the number that ends the subscription; nil when too many targets are watched.
  func subscribe(_ subscriber: any Subscriber, _ interest: Interest) -> Int? {
    let number = guarded.withLock { guarded -> Int? in
      for (count, target) in interest.targets.enumerated() where !guarded.state.watch(target) {
        interest.targets.prefix(count).forEach { guarded.state.unwatch($0) }
        return nil
      }
      guarded.nextSubscription += 1
      guarded.subscriptions[guarded.nextSubscription] = (subscriber, interest)
      if guarded.state.hasReading { guarded.offerInitial(to: subscriber, interest) }
      return guarded.nextSubscription
    }
    guard let number else { return nil }
    subscriber.wake()
    if !interest.targets.isEmpty {
      interest.targets.forEach(names.watch)
      refreshSource()
    }
    return number
  }

  func unsubscribe(_ number: Int) {
    let removed = guarded.withLock { guarded in
      let removed = guarded.subscriptions.removeValue(forKey: number)
      removed?.interest.targets.forEach { guarded.state.unwatch($0) }
      return removed
    }
    removed?.interest.targets.forEach(names.unwatch)
    removed?.subscriber.end()
  }

  func attach(_ sink: any TransitionSink) {
    guarded.withLock { guarded in
      guarded.sinks.append(sink)
      sink.take([], guarded.state.snapshot)
    }
  }

  /// Takes in what the resolver found; the next reading judges by it.
  func resolved(_ target: Target, _ resolution: NameResolution) {
    guarded.withLock { $0.state.resolved(target, resolution) }
  }

  /// Ends every subscription and forgets what was read.
  func reset() {
    let subscribers = guarded.withLock { guarded in
      let subscribers = guarded.subscriptions.values.map(\.subscriber)
      guarded.subscriptions.values.flatMap(\.interest.targets).forEach { guarded.state.unwatch($0) }
      guarded.subscriptions = [:]
      guarded.state.reset()
      return subscribers
    }
    names.stop()
    for subscriber in subscribers { subscriber.end() }
  }
}

extension Engine.Guarded {
  /// Hands transitions to every sink and to the mailboxes of those who want them; returns who must be woken.
  fileprivate mutating func publish(_ transitions: [Transition], asInitial: Bool) -> [any Subscriber] {
    guard asInitial || !transitions.isEmpty else { return [] }
    for sink in sinks { sink.take(transitions, state.snapshot) }
    var woken: [any Subscriber] = []
    for (_, (subscriber, interest)) in subscriptions {
      if asInitial {
        offerInitial(to: subscriber, interest)
      } else {
        let wanted = transitions.filter(interest.wants)
        guard !wanted.isEmpty else { continue }
        for transition in wanted {
          subscriber.offer(ReachabilityUpdate(snapshot: state.snapshot, transition: transition))
        }
      }
      woken.append(subscriber)
    }
    return woken
  }

  fileprivate func offerInitial(to subscriber: any Subscriber, _ interest: Interest) {
    if interest.wantsMachine { subscriber.offer(ReachabilityUpdate(snapshot: state.snapshot)) }
    guard interest.kinds.contains(.host), let time = state.lastReading else { return }
    for target in interest.targets {
      guard let verdict = state.verdict(of: target) else { continue }
      let transition = Transition(
        sequence: state.snapshot.sequence, time: time, causes: [], change: .host(from: nil, to: verdict))
      subscriber.offer(ReachabilityUpdate(snapshot: state.snapshot, transition: transition))
    }
  }
}
