internal import Locks
internal import NetworkReachability
internal import ReachabilityModel

/// Notes that this machine's status has changed, for gates that depend on it.
final class GateMachineObserver: TransitionSink {
  private let isChanged = Locked(false)
  private let wake: @Sendable () -> Void

  /// - Parameter wake: is called under the engine's lock.
  init(_ wake: @escaping @Sendable () -> Void) { self.wake = wake }

  func take(_ transitions: [Transition], _ snapshot: Snapshot) {
    guard transitions.contains(where: { $0.kind == .status }) else { return }
    isChanged.withLock { $0 = true }
    wake()
  }

  /// Whether the status has changed since the last call.
  func takeChange() -> Bool {
    isChanged.withLock { isChanged in
      defer { isChanged = false }
      return isChanged
    }
  }
}
