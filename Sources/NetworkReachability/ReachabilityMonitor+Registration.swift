package import ReachabilityModel

/// For components that register targets: watches without a subscription, and numbers in the sequence of transitions (ADR 21).
extension ReachabilityMonitor {
  /// A number for a watcher without a subscription.
  package func makeWatcherID() -> Int { engine.makeWatcherID() }

  /// Watches a target without a subscription; its transitions go to the attached sinks.
  ///
  /// - Parameters:
  ///   - target: the target; each call needs an ``unwatch(_:for:)``.
  ///   - watcher: the watcher's number.
  ///   - sink: receives the present verdict, if there is one.
  package func watch(_ target: ReachabilityTarget, for watcher: Int, reportingTo sink: some VerdictSink) {
    engine.watch(target, for: watcher, reportingTo: sink)
  }

  /// Reports the present verdict for a watched target to a sink again, if there is one.
  package func report(_ target: ReachabilityTarget, to sink: some VerdictSink) { engine.report(target, to: sink) }

  /// Ends one ``watch(_:for:reportingTo:)``.
  package func unwatch(_ target: ReachabilityTarget, for watcher: Int) { engine.unwatch(target, for: watcher) }

  /// Requests a reading, so that new targets are evaluated before the next event.
  package func refresh() { engine.refreshSource() }

  /// Continues the sequence of an earlier process, before ``start()``.
  package func restore(_ state: RestoredEngineState) { engine.restore(state) }

  /// Numbers changes of registered targets, and then those of gates, in one sequence with those of this machine, and
  /// publishes them.
  ///
  /// - Returns: the effects that remain, for the caller to run without a lock.
  package func record(
    _ changes: [EngineTargetChange], _ gates: [EngineGateChange] = [], at time: Timestamp
  ) -> @Sendable () -> Void {
    engine.record(changes, gates, at: time)
  }
}
