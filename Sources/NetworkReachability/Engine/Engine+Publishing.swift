internal import ReachabilityModel

// Publication under the engine's lock.
extension Engine.Guarded {
  /// Passes transitions to every sink, and to the mailboxes of the subscriptions that include them.
  ///
  /// - Returns: the subscribers to wake.
  mutating func publish(_ transitions: [Transition], asInitial: Bool) -> [any Subscriber] {
    guard asInitial || !transitions.isEmpty else { return [] }
    for sink in sinks { sink.take(transitions, state.snapshot) }
    // Before the first reading, subscribers have no state that could change.
    guard state.hasReading else { return [] }
    if asInitial {
      for (subscriber, filter) in subscriptions.values { offerInitial(to: subscriber, filter) }
      return subscriptions.values.map(\.subscriber)
    }
    let latest = Shared(state.snapshot)
    var woken: Set<Int> = []
    for transition in transitions {
      if case .host(_, let verdict) = transition.change {
        // Looked up by target, because there may be thousands of both subscriptions and targets.
        guard let numbers = subscribers[verdict.target] else { continue }
        offer(ReachabilityUpdate(state: latest, transition: transition), to: numbers, &woken)
      } else {
        let numbers = subscriptions.filter { $0.value.filter.kinds.contains(transition.kind) }.keys
        offer(ReachabilityUpdate(state: latest, transition: transition), to: numbers, &woken)
      }
    }
    return woken.compactMap { subscriptions[$0]?.subscriber }
  }

  /// Passes the present verdict for a watched target to a sink, if there is one.
  ///
  /// Under the same lock as every change: outside it, an older verdict could arrive after a newer one and stay.
  func report(_ target: ReachabilityTarget, to sink: some VerdictSink) {
    guard let verdict = state.verdict(of: target) else { return }
    sink.take(verdict)
  }

  private func offer(_ update: ReachabilityUpdate, to numbers: some Sequence<Int>, _ woken: inout Set<Int>) {
    for number in numbers {
      subscriptions[number]?.subscriber.offer(update)
      woken.insert(number)
    }
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
    let latest = Shared(state.snapshot)
    if filter.includesMachine { subscriber.offer(ReachabilityUpdate(state: latest, transition: nil)) }
    guard filter.kinds.contains(.host), let time = state.lastReading else { return }
    for target in filter.targets {
      guard let verdict = state.verdict(of: target) else { continue }
      let transition = Transition(
        sequence: state.lastNumber, time: time, causes: [], change: .host(from: nil, to: verdict))
      subscriber.offer(ReachabilityUpdate(state: latest, transition: transition))
    }
  }
}
