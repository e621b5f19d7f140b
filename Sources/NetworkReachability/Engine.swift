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

  fileprivate struct Guarded {
    var state: EngineState
    var subscriptions: [Int: (subscriber: any Subscriber, interest: Interest)] = [:]
    var nextSubscription = 0
    var sinks: [any TransitionSink] = []
    /// The number of the run whose readings count.
    var run = 0
  }

  init(settle: Duration, logger: Logger) {
    guarded = Locked(Guarded(state: EngineState(settle: settle)))
    self.logger = logger
  }

  // MARK: - Readings

  /// What the next source observes; the readings of those before no longer count.
  func beginRun() -> EngineRun {
    let number = guarded.withLock { guarded in
      guarded.run += 1
      return guarded.run
    }
    return EngineRun(engine: self, number: number)
  }

  func routeQueries(for tables: KernelTables) -> [RouteQuery] {
    guarded.withLock { $0.state.routeQueries(for: tables) }
  }

  func ingest(_ reading: KernelReading, in run: Int) -> Duration? {
    let (deadline, transitions, woken) = guarded.withLock {
      guarded -> (Duration?, [Transition], [any Subscriber]) in
      guard guarded.run == run else { return (nil, [], []) }
      let wasFirst = !guarded.state.hasReading
      let transitions = guarded.state.ingest(reading)
      let woken = guarded.publish(transitions, asInitial: wasFirst)
      return (guarded.state.nextDeadline, transitions, woken)
    }
    report(transitions, woken)
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
    for transition in transitions { TransitionLog.write(transition, to: logger) }
    for subscriber in woken { subscriber.wake() }
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
        guarded.state.unwatch(interest.targets.prefix(count))
        return nil
      }
      guarded.nextSubscription += 1
      guarded.subscriptions[guarded.nextSubscription] = (subscriber, interest)
      if guarded.state.hasReading { guarded.offerInitial(to: subscriber, interest) }
      return guarded.nextSubscription
    }
    if number != nil { subscriber.wake() }
    return number
  }

  /// Ends a subscription; a delivery may still be under way.
  func unsubscribe(_ number: Int) {
    // Let go of the subscriber outside the lock: foreign objects may go with it.
    let subscriber = guarded.withLock { guarded -> (any Subscriber)? in
      guard let (subscriber, interest) = guarded.subscriptions.removeValue(forKey: number) else { return nil }
      guarded.state.unwatch(interest.targets)
      subscriber.close()
      return subscriber
    }
    withExtendedLifetime(subscriber) {}
  }

  func attach(_ sink: any TransitionSink) {
    guarded.withLock { guarded in
      guarded.sinks.append(sink)
      sink.take([], guarded.state.snapshot)
    }
  }

  /// Takes in what the resolver found; true when somebody still watches that target.
  func resolved(_ target: Target, _ resolution: NameResolution) {
    guarded.withLock { $0.state.resolved(target, resolution) }
  }

  /// Ends the run and every subscription, and forgets what was read.
  ///
  /// - Returns: those who subscribed; a delivery to them may still be under way.
  func reset() -> [any Subscriber] {
    guarded.withLock { guarded in
      guarded.run += 1
      let subscribers = guarded.subscriptions.values.map(\.subscriber)
      guarded.state.unwatch(guarded.subscriptions.values.flatMap(\.interest.targets))
      for subscriber in subscribers { subscriber.close() }
      guarded.subscriptions = [:]
      guarded.state.reset()
      return subscribers
    }
  }
}

extension Engine.Guarded {
  /// Hands transitions to every sink and to the mailboxes of those who want them; returns who must be woken.
  fileprivate mutating func publish(_ transitions: [Transition], asInitial: Bool) -> [any Subscriber] {
    guard asInitial || !transitions.isEmpty else { return [] }
    for sink in sinks { sink.take(transitions, state.snapshot) }
    // What nobody has been told yet cannot change for them.
    guard state.hasReading else { return [] }
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
