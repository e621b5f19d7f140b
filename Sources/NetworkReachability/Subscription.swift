extension ReachabilityMonitor {
  /// Ends a listener's subscription: by ``cancel()``, or when the last reference to it goes, which waits as `cancel()` does.
  public final class Subscription: Sendable {
    private let onCancel: @Sendable () -> Void

    init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    deinit { onCancel() }

    /// Ends the subscription; no call of the listener begins after it returns, and none is under way.
    ///
    /// It waits for a call that is under way on another thread, and returns at once inside the listener itself. Of two
    /// listeners that cancel each other from inside, the second does not wait for the first, which waits for it. Do not hold
    /// a lock here that the listener takes. Calling it again does nothing.
    public func cancel() { onCancel() }
  }
}
