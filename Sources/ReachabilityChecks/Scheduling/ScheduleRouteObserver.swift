internal import Locks
internal import NetworkReachability
internal import ReachabilityModel

/// Collects the verdicts for the hosts of registered targets under the engine's lock, for the schedule's queue.
final class ScheduleRouteObserver: TransitionSink, VerdictSink {
  /// The verdict for a host, or a change of it.
  struct Change {
    var verdict: HostVerdict
    var isFirst: Bool
    /// Whether it repeats the present verdict on request, and is not a transition.
    var isReport = false
    var causes: Set<Cause>
  }

  private let waiting = Locked<[Change]>([])
  private let wake: @Sendable () -> Void

  /// An observer that calls `wake` when changes wait; it must not block.
  init(_ wake: @escaping @Sendable () -> Void) { self.wake = wake }

  func take(_ transitions: [Transition], _ snapshot: Snapshot) {
    var changes: [Change] = []
    // All transitions of one reading have the same causes.
    var causes: (list: [Cause], set: Set<Cause>) = ([], [])
    for transition in transitions {
      guard case .host(let from, let to) = transition.change else { continue }
      if transition.causes != causes.list { causes = (transition.causes, Set(transition.causes)) }
      changes.append(Change(verdict: to, isFirst: from == nil, causes: causes.set))
    }
    if !changes.isEmpty { append(changes) }
  }

  func take(_ verdict: HostVerdict) {
    append([Change(verdict: verdict, isFirst: true, isReport: true, causes: [])])
  }

  /// Adds changes; under the engine's lock, so that they stay in order.
  private func append(_ changes: [Change]) {
    waiting.withLock { $0 += changes }
    wake()
  }

  /// Removes and returns the waiting changes.
  func drain() -> [Change] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
