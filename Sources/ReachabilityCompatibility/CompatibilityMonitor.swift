internal import Locks
internal import NetworkReachability

/// A monitor that is started while at least one compatibility object listens, or has been read and is not released: one
/// netlink thread for all of them.
package final class CompatibilityMonitor: Sendable {
  /// The monitor of objects without a monitor of their own.
  static let standard = CompatibilityMonitor(ReachabilityMonitor())

  let monitor: ReachabilityMonitor
  private let useCount = Locked(0)

  /// Shares a monitor, which no other code may start or stop.
  package init(_ monitor: ReachabilityMonitor) { self.monitor = monitor }

  /// Adds a use; when it returns, the monitor has its first reading.
  ///
  /// The start is outside the lock, because it may wait for a thread that calls listeners, and these may use this object. It
  /// has no effect on a started monitor. The monitor is not stopped meanwhile, because this use counts.
  func retain() throws(KernelError) {
    useCount.withLock { $0 += 1 }
    do throws(KernelError) {
      try monitor.start()
    } catch {
      release()
      throw error
    }
  }

  /// Removes a use, after its subscription has ended; the last stops the monitor.
  func release() {
    useCount.withLock { count in
      count -= 1
      if count == 0 { monitor.stop() }
    }
  }
}
