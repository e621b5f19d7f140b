internal import ReachabilityModel

// Under the engine's lock: who is told what.
extension Engine.Guarded {
  /// Hands transitions to every sink and to the mailboxes of those who want them; returns who must be woken.
  mutating func publish(_ transitions: [Transition], asInitial: Bool) -> [any Subscriber] {
    guard asInitial || !transitions.isEmpty else { return [] }
    for sink in sinks { sink.take(transitions, state.snapshot) }
    // What nobody has been told yet cannot change for them.
    guard state.hasReading else { return [] }
    if asInitial {
      for (subscriber, interest) in subscriptions.values { offerInitial(to: subscriber, interest) }
      return subscriptions.values.map(\.subscriber)
    }
    let latest = Shared(state.snapshot)
    var woken: Set<Int> = []
    for transition in transitions {
      if case .host(_, let verdict) = transition.change {
        // Looked up, for there may be as many subscriptions as targets, and both in the thousands.
        guard let interested = watchers[verdict.target] else { continue }
        offer(ReachabilityUpdate(state: latest, transition: transition), to: interested, &woken)
      } else {
        let interested = subscriptions.filter { $0.value.interest.kinds.contains(transition.kind) }.keys
        offer(ReachabilityUpdate(state: latest, transition: transition), to: interested, &woken)
      }
    }
    return woken.compactMap { subscriptions[$0]?.subscriber }
  }

  /// Puts the verdict over a watched target among what its sink was told, if there is one.
  ///
  /// Under the same lock as every change: put there later, it could stand behind one that is younger, for good.
  func tell(_ target: ReachabilityTarget, to sink: some VerdictSink) {
    guard let verdict = state.verdict(of: target) else { return }
    sink.take(verdict)
  }

  private func offer(_ update: ReachabilityUpdate, to interested: some Sequence<Int>, _ woken: inout Set<Int>) {
    for number in interested {
      subscriptions[number]?.subscriber.offer(update)
      woken.insert(number)
    }
  }

  /// Tells those who probe which targets' routes a reading touched.
  func tellJudged(_ outcome: EngineState.Outcome) {
    guard !judgementSinks.isEmpty, !outcome.watched.isEmpty else { return }
    let judgement = Judgement(
      causes: Cause.sorted(outcome.causes), time: outcome.time
    ) { [state] in state.judgedTargets(of: outcome) }
    for sink in judgementSinks { sink.judged(judgement) }
  }

  func offerInitial(to subscriber: any Subscriber, _ interest: Interest) {
    let latest = Shared(state.snapshot)
    if interest.wantsMachine { subscriber.offer(ReachabilityUpdate(state: latest, transition: nil)) }
    guard interest.kinds.contains(.host), let time = state.lastReading else { return }
    for target in interest.targets {
      guard let verdict = state.verdict(of: target) else { continue }
      let transition = Transition(
        sequence: state.lastNumber, time: time, causes: [], change: .host(from: nil, to: verdict))
      subscriber.offer(ReachabilityUpdate(state: latest, transition: transition))
    }
  }
}
