internal import EventLoop
internal import Locks
internal import ReachabilityModel

extension NetlinkObserverMultiplexer {
  /// One observer, from ``add(_:isFirst:)`` to ``remove(_:)``.
  final class Member: Sendable {
    let observer: any KernelObserver
    var id: ObjectIdentifier { ObjectIdentifier(self) }
    private let latch = Latch()
    private let failure = Locked<KernelError?>(nil)

    init(_ observer: any KernelObserver) { self.observer = observer }

    /// Waits for the first reading.
    ///
    /// - Throws: the failure of the source, if there is no reading.
    func waitForFirstReading() throws(KernelError) {
      latch.wait()
      if let failure = failure.withLock(\.self) { throw failure }
    }

    /// Ends the wait; further calls have no effect on the result.
    func endWait(_ error: KernelError? = nil) {
      failure.withLock { $0 = $0 ?? error }
      latch.open()
    }
  }
}
