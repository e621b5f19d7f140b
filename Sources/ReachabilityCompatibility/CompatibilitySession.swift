internal import Locks
internal import NetworkReachability

/// One listener's use of the shared monitor, which has been retained, from start to end.
///
/// It may end before its subscription is attached: the first call may occur while the subscription is made, and the listener
/// may stop in that call.
final class CompatibilitySession: Sendable {
  private struct State: Sendable {
    var subscription: ReachabilityMonitor.Subscription?
    var isAttached = false
    var hasEnded = false
    /// Retained until the first call has returned.
    var owner: (any AnyObject & Sendable)?
  }

  private let shared: CompatibilityMonitor
  private let state: Locked<State>

  init(_ shared: CompatibilityMonitor, owner: (any AnyObject & Sendable)?) {
    self.shared = shared
    state = Locked(State(owner: owner))
  }

  /// Whether the listener may be called.
  ///
  /// Evaluated on the listener's queue immediately before each call, so that queued updates are dropped after the end.
  var isOpen: Bool { state.withLock { !$0.hasEnded } }

  /// Attaches the subscription, and cancels it when the session has ended; nil when the subscription failed.
  func attach(_ subscription: ReachabilityMonitor.Subscription?) {
    let hasEnded = state.withLock { state in
      state.isAttached = true
      if !state.hasEnded { state.subscription = subscription }
      return state.hasEnded
    }
    if hasEnded { close(subscription) }
  }

  /// Releases the owner after the first call; further calls have no effect.
  func releaseOwner() {
    // Outside the lock, because the owner's deinitializer ends the session.
    let owner = state.withLock { state in
      defer { state.owner = nil }
      return state.owner
    }
    withExtendedLifetime(owner) {}
  }

  /// Ends the session; further calls have no effect.
  func end() {
    releaseOwner()
    let (mustClose, subscription) = state.withLock { state in
      defer {
        state.hasEnded = true
        state.subscription = nil
      }
      return (state.isAttached && !state.hasEnded, state.subscription)
    }
    if mustClose { close(subscription) }
  }

  /// Ends the subscription first, because the monitor stops with its last listener.
  private func close(_ subscription: ReachabilityMonitor.Subscription?) {
    subscription?.cancel()
    shared.release()
  }
}
