public import ReachabilityModel

extension ReachabilityMonitor {
  /// The present state and then every change of the given kinds, as an asynchronous sequence.
  ///
  /// The first update follows the monitor's start. Registered targets are reported when they change; their present states are
  /// part of their schedule.
  ///
  /// - Parameters:
  ///   - kinds: the changes of this machine to receive; by default its status and default path.
  ///   - targets: hosts to watch; each delivers its verdict first and then its changes.
  /// - Returns: a sequence; each iteration is a separate subscription, and ends immediately when more than 100,000 targets
  ///   would be watched.
  public func updates(
    of kinds: Transition.Kinds = [.status, .path], watching targets: [ReachabilityTarget] = []
  ) -> ReachabilityUpdates {
    // The sequence does not retain the monitor: releasing the monitor ends it.
    ReachabilityUpdates(hostCount: targets.count) { [weak self] subscriber in
      self?.subscribe(subscriber, to: kinds, watching: targets)
    }
  }

  /// Calls a closure with the present state and then with every change of the given kinds, in order, one call at a time.
  ///
  /// Keep the subscription, for instance in a property: its release ends it. It does not retain the monitor. Registered targets
  /// are reported when they change.
  ///
  /// - Parameters:
  ///   - kinds: the changes of this machine to receive; by default its status and default path.
  ///   - targets: hosts to watch; each delivers its verdict first and then its changes.
  ///   - context: where the closure runs; by default the main queue.
  ///   - body: the listener.
  /// - Returns: the subscription, which ends when it is cancelled or released; nil when more than 100,000 targets would be
  ///   watched.
  public func listen(
    to kinds: Transition.Kinds = [.status, .path], watching targets: [ReachabilityTarget] = [],
    on context: DeliveryContext = .main, _ body: @escaping @Sendable (ReachabilityUpdate) -> Void
  ) -> Subscription? {
    let listener = ListeningSubscriber(context: context, waitsAtEnd: true, hostCount: targets.count, body: body)
    return subscribe(listener, to: kinds, watching: targets)
  }

  /// As ``listen(to:watching:on:_:)`` on the main queue, for a closure that uses the state of the main actor.
  ///
  /// - Parameters:
  ///   - kinds: the changes of this machine to receive; by default its status and default path.
  ///   - targets: hosts to watch; each delivers its verdict first and then its changes.
  ///   - body: the listener.
  /// - Returns: the subscription, which ends when it is cancelled or released; nil when more than 100,000 targets would be
  ///   watched.
  public func listenOnMainActor(
    to kinds: Transition.Kinds = [.status, .path], watching targets: [ReachabilityTarget] = [],
    _ body: @escaping @MainActor @Sendable (ReachabilityUpdate) -> Void
  ) -> Subscription? {
    listen(to: kinds, watching: targets, on: .main) { update in MainActor.assumeIsolated { body(update) } }
  }

  /// As ``listen(to:watching:on:_:)``, but neither the subscription's end nor ``stop()`` waits for a call in progress.
  ///
  /// For the compatibility classes: the originals do not wait either, and are stopped in places where waiting would deadlock.
  /// After the end nothing is delivered from the mailbox or a queue; a call that another thread has begun still completes.
  package func listenWithoutWaiting(
    to kinds: Transition.Kinds, watching targets: [ReachabilityTarget], on context: DeliveryContext,
    _ body: @escaping @Sendable (ReachabilityUpdate) -> Void
  ) -> Subscription? {
    let listener = ListeningSubscriber(context: context, waitsAtEnd: false, hostCount: targets.count, body: body)
    return subscribe(listener, to: kinds, watching: targets)
  }

  /// Calls a closure with the verdict for a target and then with its changes, for a client of the service: names are resolved
  /// by a separate resolver, so that they do not delay other names.
  ///
  /// - Parameters:
  ///   - target: the target.
  ///   - client: the client that the lookups of a name are counted for.
  ///   - context: where the closure runs.
  ///   - body: the listener.
  /// - Returns: the subscription; nil when too many targets would be watched.
  package func listen(
    forClientOf target: ReachabilityTarget, client: String, on context: DeliveryContext,
    _ body: @escaping @Sendable (ReachabilityUpdate) -> Void
  ) -> Subscription? {
    let listener = ListeningSubscriber(context: context, waitsAtEnd: true, hostCount: 1, body: body)
    return subscribe(listener, to: [], watching: [target], client: client)
  }

  private func subscribe(
    _ subscriber: any Subscriber, to kinds: Transition.Kinds, watching targets: [ReachabilityTarget],
    client: String? = nil
  ) -> Subscription? {
    var filter = SubscriptionFilter(kinds: targets.isEmpty ? kinds : kinds.union(.host), targets: targets)
    filter.client = client
    guard let number = engine.subscribe(subscriber, filter) else { return nil }
    // Weak, because the closure of a listener may retain its own subscription.
    return Subscription { [engine, weak subscriber] in
      engine.unsubscribe(number)
      subscriber?.end()
    }
  }

  /// Attaches a sink that needs every transition exactly once and in order; it receives the snapshot first.
  package func attach(_ sink: any TransitionSink) { engine.attach(sink) }

  package func detach(_ sink: any TransitionSink) { engine.detach(sink) }

  /// Attaches an observer of the targets that each change of the kernel affects.
  package func attach(_ observer: any ReevaluationObserver) { engine.attach(observer) }
}
