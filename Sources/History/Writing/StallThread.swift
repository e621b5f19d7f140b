internal import EventLoop

/// The thread that makes events visible when the disk delays their commit too long.
///
/// It never uses the disk. It sleeps while events are committed in time: the thread `store` sets its timer before it uses the disk, and the
/// timer is not set again until it has expired.
final class StallThread: @unchecked Sendable {
  private static let token: UInt64 = 1

  private let poller: Poller
  private let queue: WriteQueue
  private let timer: OneShotTimer
  private let waker: Waker
  private let isArmed: WriterFlag
  /// Called without a lock after events became visible without their commit.
  private let onDetach: @Sendable () -> Void
  private let isStopping = WriterFlag()

  /// - Throws: an ``EventLoopError`` if the process has no descriptors left.
  init(
    _ queue: WriteQueue, timer: OneShotTimer, isArmed: WriterFlag, onDetach: @escaping @Sendable () -> Void
  ) throws(EventLoopError) {
    self.queue = queue
    self.timer = timer
    self.isArmed = isArmed
    self.onDetach = onDetach
    poller = try Poller(capacity: 2)
    waker = try Waker()
    try waker.attach(to: poller, token: Poller.mailboxToken)
    try timer.attach(to: poller, token: Self.token)
  }

  /// Runs until ``stop()``.
  func run() {
    while !isStopping.isSet {
      _ = poller.wait(atMost: nil)
      waker.clear()
      isArmed.clear()
      switch queue.checkStall(time: StoreTime.now.wall) {
      case .idle: break
      case .waits(let until):
        isArmed.set()
        timer.set(after: .nanoseconds(until - MonotonicInstant.now.nanoseconds))
      case .detached: onDetach()
      }
    }
  }

  func stop() {
    isStopping.set()
    waker.wake()
  }
}
