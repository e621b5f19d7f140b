internal import Locks
internal import NetworkReachability
internal import ReachabilityModel

/// Hears the kernel's word about the ways to targets, under the engine's lock, and keeps it for the schedule's queue.
final class WaySink: TransitionSink, VerdictSink {
  /// A verdict over the way to a host, or a change of it.
  struct Change {
    var verdict: HostVerdict
    var isFirst: Bool
    var causes: Set<Cause>
  }

  private let waiting = Locked<[Change]>([])
  private let wake: @Sendable () -> Void

  /// A sink that calls `wake` when something waits; it must not block.
  init(_ wake: @escaping @Sendable () -> Void) { self.wake = wake }

  func take(_ transitions: [Transition], _ snapshot: Snapshot) {
    var changes: [Change] = []
    // Of one change of the kernel all have the same.
    var causes: (list: [Cause], set: Set<Cause>) = ([], [])
    for transition in transitions {
      guard case .host(let from, let to) = transition.change else { continue }
      if transition.causes != causes.list { causes = (transition.causes, Set(transition.causes)) }
      changes.append(Change(verdict: to, isFirst: from == nil, causes: causes.set))
    }
    if !changes.isEmpty { put(changes) }
  }

  func take(_ verdict: HostVerdict) { put([Change(verdict: verdict, isFirst: true, causes: [])]) }

  /// Adds changes; under the engine's lock, so that the youngest stands last.
  private func put(_ changes: [Change]) {
    waiting.withLock { $0 += changes }
    wake()
  }

  /// Takes out what waits.
  func drain() -> [Change] {
    waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
