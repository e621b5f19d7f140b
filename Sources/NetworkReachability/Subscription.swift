extension ReachabilityMonitor {
  /// Ends a listener's subscription: by ``cancel()``, or when its last reference is released, which waits as `cancel()` does.
  public final class Subscription: Sendable {
    private let onCancel: @Sendable () -> Void

    init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    deinit { onCancel() }

    /// Ends the subscription; after it returns, no call of the listener is in progress and none begins.
    ///
    /// It waits for a call in progress on another thread, and returns immediately inside the listener itself. When two
    /// listeners cancel each other from inside, the second does not wait, because the first waits for it. Do not hold a lock
    /// that the listener takes. Further calls have no effect.
    public func cancel() { onCancel() }
  }
}
