internal import Locks
internal import NetworkReachability

/// One listening, from its start, which the shared monitor has counted already, to its end.
///
/// It may end before its subscription is there: the first call comes while the subscription is being made, and the listener
/// may stop in it.
final class ListeningSession: Sendable {
  private struct State: Sendable {
    var subscription: ReachabilityMonitor.Subscription?
    var isAttached = false
    var hasEnded = false
  }

  private let shared: SharedMonitor
  private let state = Locked(State())

  init(_ shared: SharedMonitor) { self.shared = shared }

  /// False when the listener must not be called any more.
  ///
  /// Asked on the listener's queue right before each call, so that what the end finds on its way there is not told.
  var isOpen: Bool { state.withLock { !$0.hasEnded } }

  /// Takes the subscription, which it cancels when it has ended meanwhile; nil when there could be none.
  func attach(_ subscription: ReachabilityMonitor.Subscription?) {
    let hasEnded = state.withLock { state in
      state.isAttached = true
      if !state.hasEnded { state.subscription = subscription }
      return state.hasEnded
    }
    if hasEnded { close(subscription) }
  }

  /// Ends the listening; the second time it does nothing.
  func end() {
    let (mustClose, subscription) = state.withLock { state in
      defer {
        state.hasEnded = true
        state.subscription = nil
      }
      return (state.isAttached && !state.hasEnded, state.subscription)
    }
    if mustClose { close(subscription) }
  }

  /// The subscription first: the monitor stops with its last listener, and must have none then.
  private func close(_ subscription: ReachabilityMonitor.Subscription?) {
    subscription?.cancel()
    shared.end()
  }
}
