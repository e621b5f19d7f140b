internal import ReachabilityModel

// EnginePublication under the engine's lock.
extension Engine.Guarded {
  /// Passes transitions to every sink, and to the mailboxes of the subscriptions that include them.
  ///
  /// - Returns: the subscribers to wake.
  mutating func publish(_ publication: EnginePublication, asInitial: Bool) -> [any Subscriber] {
    let transitions = publication.transitions
    guard asInitial || !transitions.isEmpty else { return [] }
    for sink in sinks { sink.take(transitions, state.snapshot) }
    // Before the first reading, subscribers have no state that could change.
    guard state.hasReading else { return [] }
    if asInitial {
      for (subscriber, filter) in subscriptions.values { offerInitial(to: subscriber, filter) }
      return subscriptions.values.map(\.subscriber)
    }
    return updates(for: publication).compactMap { number, updates in
      guard let subscriber = subscriptions[number]?.subscriber else { return nil }
      subscriber.offer(updates)
      return subscriber
    }
  }

  private func updates(for publication: EnginePublication) -> [Int: [ReachabilityUpdate]] {
    let latest = SharedValue(state.snapshot)
    var updates: [Int: [ReachabilityUpdate]] = [:]
    var targets = publication.targets.makeIterator()
    for transition in publication.transitions {
      let update = ReachabilityUpdate(state: latest, transition: transition)
      if transition.kind == .host {
        guard let target = targets.next() else { continue }
        for number in subscribers[target] { updates[number, default: []].append(update) }
      } else {
        for (number, subscription) in subscriptions where subscription.filter.kinds.contains(transition.kind) {
          updates[number, default: []].append(update)
        }
      }
    }
    return updates
  }

  /// Passes the present verdict for a watched target to a sink, if there is one.
  ///
  /// Under the same lock as every change: outside it, an older verdict could arrive after a newer one and stay.
  func report(_ target: ReachabilityTarget, to sink: some VerdictSink) {
    guard let verdict = state.verdict(of: target) else { return }
    sink.take(verdict)
  }

  /// Notifies observers about the targets that a reading evaluated.
  func notifyObservers(_ outcome: EngineState.Outcome) {
    guard !observers.isEmpty, !outcome.watched.isEmpty else { return }
    let reevaluation = Reevaluation(
      causes: Cause.sorted(outcome.causes), time: outcome.time
    ) { [state] in state.evaluatedTargets(of: outcome) }
    for observer in observers { observer.didReevaluate(reevaluation) }
  }

  /// Puts the present state into a mailbox.
  func offerInitial(to subscriber: any Subscriber, _ filter: SubscriptionFilter) {
    let latest = SharedValue(state.snapshot)
    var updates: [ReachabilityUpdate] = []
    if filter.includesMachine { updates.append(ReachabilityUpdate(state: latest, transition: nil)) }
    if filter.kinds.contains(.host), let time = state.lastReading {
      let verdicts = state.reportedVerdicts
      for target in filter.targets {
        guard let verdict = verdicts.verdict(of: target) else { continue }
        let transition = Transition(
          sequence: state.lastNumber, time: time, causes: [], change: .host(from: nil, to: verdict))
        updates.append(ReachabilityUpdate(state: latest, transition: transition))
      }
    }
    subscriber.offer(updates)
  }
}
