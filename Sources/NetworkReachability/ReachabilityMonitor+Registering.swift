package import ReachabilityModel

/// What whoever registers targets needs of the engine, which stays this room's own: ways that are watched without a
/// subscription, and numbers in the one history (ADR 21).
extension ReachabilityMonitor {
  /// A number for one who watches without a subscription.
  package func makeWatcher() -> Int { engine.makeWatcher() }

  /// Watches a target without a subscription; what becomes of it comes to the sinks that are attached.
  ///
  /// - Parameters:
  ///   - target: what is watched; each time counts, as each ``unwatch(_:for:)`` does.
  ///   - watcher: for whom.
  ///   - sink: takes the verdict as it is, if there is one.
  package func watch(_ target: ReachabilityTarget, for watcher: Int, telling sink: some VerdictSink) {
    engine.watch(target, for: watcher, telling: sink)
  }

  /// Tells a sink once more what the verdict over a watched target is, if there is one.
  package func tell(_ target: ReachabilityTarget, to sink: some VerdictSink) { engine.tell(target, to: sink) }

  /// Stops watching what ``watch(_:for:telling:)`` began.
  package func unwatch(_ target: ReachabilityTarget, for watcher: Int) { engine.unwatch(target, for: watcher) }

  /// Has the kernel asked about targets that are new, rather than with its next event.
  package func refresh() { engine.refreshSource() }

  /// Numbers changes of registered targets among the machine's own, and hands them to all who hear those.
  ///
  /// - Returns: what is to be done about it without any lock.
  package func record(_ news: [TargetNews], at time: Timestamp) -> @Sendable () -> Void {
    engine.record(news, at: time)
  }
}
