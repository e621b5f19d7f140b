internal import Locks
internal import NetworkReachability

/// A monitor that runs while at least one façade listens: one netlink thread for all of them.
package final class SharedMonitor: Sendable {
  /// The monitor of every façade that is not given another.
  static let standard = SharedMonitor(ReachabilityMonitor())

  let monitor: ReachabilityMonitor
  private let listenerCount = Locked(0)

  /// A monitor to share, which nobody else starts or stops.
  package init(_ monitor: ReachabilityMonitor) { self.monitor = monitor }

  /// Counts one listener more; the first starts the monitor.
  ///
  /// The lock is held over the start, so that everybody finds the first reading there. No foreign code runs inside:
  /// nobody is subscribed yet.
  func begin() throws(KernelError) {
    try listenerCount.withLock { (count: inout sending Int) throws(KernelError) in
      if count == 0 { try monitor.start() }
      count += 1
    }
  }

  /// Counts one listener less, after its subscription has ended; the last stops the monitor.
  func end() {
    listenerCount.withLock { count in
      count -= 1
      if count == 0 { monitor.stop() }
    }
  }
}
