public import ReachabilityModel

extension ReachabilityMonitor {
  /// The state as it is and then every change of the given kinds, as an asynchronous sequence.
  ///
  /// It begins once the monitor is started; of a monitor that never is, nothing comes. Of registered targets come changes only:
  /// what was before stands with their schedule.
  ///
  /// - Parameters:
  ///   - kinds: which changes to hear of this machine; default its status and the way out.
  ///   - targets: hosts to watch as well; each delivers its verdict first and then its changes.
  /// - Returns: a sequence; each iteration is a subscription of its own, and ends at once when more than 100,000 targets
  ///   would be watched.
  public func updates(
    of kinds: Transition.Kinds = [.status, .path], watching targets: [ReachabilityTarget] = []
  ) -> ReachabilityUpdates {
    // The sequence does not keep the monitor alive: dropping the monitor ends it.
    ReachabilityUpdates { [weak self] subscriber in
      self?.subscribe(subscriber, to: kinds, watching: targets)
    }
  }

  /// Calls a closure with the state as it is and then with every change of the given kinds, in order, one call at a time.
  ///
  /// Keep the subscription for as long as it is to hear, in a property for instance: neither it nor the closure's owner is kept
  /// alive here, and it keeps no monitor alive. Of registered targets come changes only.
  ///
  /// - Parameters:
  ///   - kinds: which changes to hear of this machine; default its status and the way out.
  ///   - targets: hosts to watch as well; each delivers its verdict first and then its changes.
  ///   - context: where the closure runs; default the main queue.
  ///   - body: the listener.
  /// - Returns: what ends the subscription when it is cancelled or dropped; nil when more than 100,000 targets would be
  ///   watched.
  public func listen(
    to kinds: Transition.Kinds = [.status, .path], watching targets: [ReachabilityTarget] = [],
    on context: DeliveryContext = .main, _ body: @escaping @Sendable (ReachabilityUpdate) -> Void
  ) -> ReachabilityMonitor.Subscription? {
    subscribe(Listener(context: context, waitsAtEnd: true, body: body), to: kinds, watching: targets)
  }

  /// As ``listen(to:watching:on:_:)``, but neither the subscription's end nor ``stop()`` waits for a call that is under way.
  ///
  /// For the façades: their parents' stops do not wait either, and are called where that would be a deadlock. Nothing that
  /// waits in the mailbox or on a queue is delivered after the end; a call that has been decided on another thread is.
  package func listenWithoutWaiting(
    to kinds: Transition.Kinds, watching targets: [ReachabilityTarget], on context: DeliveryContext,
    _ body: @escaping @Sendable (ReachabilityUpdate) -> Void
  ) -> ReachabilityMonitor.Subscription? {
    subscribe(Listener(context: context, waitsAtEnd: false, body: body), to: kinds, watching: targets)
  }

  /// Calls a closure with the verdict over a target, and then with its changes, for a visitor of a service: a name's servers
  /// are asked in a line of their own, in which nobody else's names wait.
  package func listen(
    forVisitorOf target: ReachabilityTarget, on context: DeliveryContext,
    _ body: @escaping @Sendable (ReachabilityUpdate) -> Void
  ) -> ReachabilityMonitor.Subscription? {
    let listener = Listener(context: context, waitsAtEnd: true, body: body)
    return subscribe(listener, to: [], watching: [target], isVisitors: true)
  }

  private func subscribe(
    _ subscriber: any Subscriber, to kinds: Transition.Kinds, watching targets: [ReachabilityTarget],
    isVisitors: Bool = false
  ) -> ReachabilityMonitor.Subscription? {
    var interest = Interest(kinds: targets.isEmpty ? kinds : kinds.union(.host), targets: targets)
    interest.isVisitors = isVisitors
    guard let number = engine.subscribe(subscriber, interest) else { return nil }
    // Weak, because the closure of a listener may hold its own subscription.
    return ReachabilityMonitor.Subscription { [engine, weak subscriber] in
      engine.unsubscribe(number)
      subscriber?.end()
    }
  }

  /// Attaches what must see every transition exactly once and in order; it is told the snapshot at once.
  package func attach(_ sink: any TransitionSink) { engine.attach(sink) }

  /// Lets go of what was attached.
  package func detach(_ sink: any TransitionSink) { engine.detach(sink) }

  /// Attaches who is told which watched targets' routes each change of the kernel touched.
  package func attach(_ sink: any JudgementSink) { engine.attach(sink) }
}
