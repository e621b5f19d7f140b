internal import Locks
internal import NetworkReachability
internal import ReachabilityModel

// The effects of routes and of parents on targets, on the thread of the timer.
extension CheckSchedule {
  /// Applies the observed changes of routes, and starts what is due.
  func applyRouteChanges() {
    var changes = observer.drain()[...]
    while !changes.isEmpty {
      let part = changes.prefix(Limits.changesPerLock)
      changes = changes.dropFirst(part.count)
      // Only for unresolved names, and before the lock, because it needs a lookup in the kernel.
      let isAnyUnresolved = part.contains { $0.verdict.phase == .optimistic && $0.verdict.path.status == .notReachable }
      let reachesNameServer = !isAnyUnresolved || monitor.reachesNameServer
      let (publish, outdated) = guarded.withLock { guarded in
        let now = now()
        var (targetChanges, ids): ([EngineTargetChange], [String]) = ([], [])
        for change in part {
          for id in guarded.routes.takeTargets(of: change) {
            let targetChange = guarded.state.routeChanged(
              id, change.verdict, isFirst: change.isFirst, change.causes, reachesNameServer: reachesNameServer, at: now)
            guard let targetChange else { continue }
            targetChanges.append(targetChange)
            ids.append(id)
          }
        }
        return (guarded.record(targetChanges, of: ids, at: now), guarded.takeOutdatedChecks())
      }
      publish()
      for cancellation in outdated { cancellation.cancel() }
    }
    applyParentChanges()
    startChecks()
  }

  /// Decides about targets whose parents have changed, in groups.
  private func applyParentChanges() {
    var isDone = false
    while !isDone {
      let (publish, outdated) = guarded.withLock { guarded -> (@Sendable () -> Void, [any CheckCancellation]) in
        guard guarded.state.dependencies.hasTouched, !guarded.hasStopped else {
          isDone = true
          return ({}, [])
        }
        let now = now()
        let (changes, ids) = guarded.state.takeDecisions(at: now)
        return (guarded.record(changes, of: ids, at: now), guarded.takeOutdatedChecks())
      }
      publish()
      for cancellation in outdated { cancellation.cancel() }
    }
  }
}
