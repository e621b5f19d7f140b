internal import Locks
internal import NetworkReachability

/// A monitor that is started while at least one compatibility object listens: one netlink thread for all of them.
package final class SharedMonitor: Sendable {
  /// The monitor of objects without a monitor of their own.
  static let standard = SharedMonitor(ReachabilityMonitor())

  let monitor: ReachabilityMonitor
  private let listenerCount = Locked(0)

  /// Shares a monitor, which no other code may start or stop.
  package init(_ monitor: ReachabilityMonitor) { self.monitor = monitor }

  /// Adds a listener; the first starts the monitor.
  ///
  /// The lock is held during the start, so that every listener has the first reading. No foreign code runs under it, because
  /// there is no subscription.
  func retain() throws(KernelError) {
    try listenerCount.withLock { (count: inout sending Int) throws(KernelError) in
      if count == 0 { try monitor.start() }
      count += 1
    }
  }

  /// Removes a listener, after its subscription has ended; the last stops the monitor.
  func release() {
    listenerCount.withLock { count in
      count -= 1
      if count == 0 { monitor.stop() }
    }
  }
}
