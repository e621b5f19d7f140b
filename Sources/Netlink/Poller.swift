internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// What the netlink thread waits for: events, a wake-up from another thread, a moment, a jump of the wall clock (epoll(7),
/// timerfd_create(2)).
final class Poller {
  /// Why a wait ended; nothing is set when only the heartbeat's time passed.
  struct Wake {
    /// The event socket has something, perhaps an error.
    var hasEvents = false
    /// The event socket has an error.
    var hasError = false
    /// Another thread called.
    var isCalled = false
    /// The moment has come.
    var isDue = false
  }

  /// An eventfd: written by any thread to end the wait.
  let caller: Descriptor
  private let epoll: Descriptor
  private let timer: Descriptor
  /// A timer on CLOCK_REALTIME that never rings, but is cancelled when that clock jumps, which it also does when the machine wakes.
  ///
  /// So a sleep is noticed at once and costs no wake-up at rest.
  private let clock: Descriptor

  /// Opens the four descriptors.
  init() throws(KernelError) {
    epoll = Descriptor(Int32(try Syscall.check("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) }))
    caller = Descriptor(
      Int32(try Syscall.check("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }))
    let flags = Int32(TFD_CLOEXEC | TFD_NONBLOCK)
    timer = Descriptor(Int32(try Syscall.check("timerfd_create") { timerfd_create(CLOCK_MONOTONIC, flags) }))
    clock = Descriptor(Int32(try Syscall.check("timerfd_create") { timerfd_create(CLOCK_REALTIME, flags) }))
    try watchClock()
    try add(caller.number)
    try add(timer.number)
    try add(clock.number)
  }

  private func watchClock() throws(KernelError) {
    var setting = itimerspec()
    // Far beyond any date, and not beyond what the kernel's nanoseconds can count (year 2262).
    setting.it_value.tv_sec = Limits.endOfTime
    let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
    try Syscall.check("timerfd_settime") { unsafe timerfd_settime(clock.number, flags, &setting, nil) }
  }

  /// Waits for this descriptor too, until it is closed.
  func add(_ number: Int32) throws(KernelError) {
    try Syscall.check("epoll_ctl") { CNetlink_epoll_add(epoll.number, number) }
  }

  /// Ends the wait of the thread whose poller has this eventfd; never blocks.
  static func call(_ caller: Descriptor) {
    var one: UInt64 = 1
    // EAGAIN: 2^64 - 2 calls are pending already, one more says nothing new.
    _ = Syscall.raw { () -> Int in unsafe write(caller.number, &one, MemoryLayout<UInt64>.size) }
  }

  /// Sets the moment on CLOCK_MONOTONIC that ends a wait; nil for never.
  ///
  /// One that has passed ends the wait at once.
  func arm(_ moment: Duration?) throws(KernelError) {
    var setting = itimerspec()
    // All zero would disarm it.
    if let moment { setting.it_value = timespec(max(moment, .nanoseconds(1))) }
    let flags = Int32(TFD_TIMER_ABSTIME)
    try Syscall.check("timerfd_settime") { unsafe timerfd_settime(timer.number, flags, &setting, nil) }
  }

  /// Waits, at most ``Limits/heartbeat``.
  func wait() throws(KernelError) -> Wake {
    var wake = Wake()
    let timeout = Int32(Limits.heartbeat.components.seconds * 1000)
    var ready = [CNetlink_Ready](repeating: CNetlink_Ready(), count: 4)
    let count = unsafe ready.withUnsafeMutableBufferPointer {
      unsafe CNetlink_epoll_wait(epoll.number, $0.baseAddress, timeout)
    }
    if count < 0 {
      let code = errno
      // All signals are blocked here: this process was stopped and goes on (signal(7)), which is worth a look at the clock.
      guard code == EINTR else { throw KernelError("epoll_wait", errno: code) }
      return wake
    }
    for event in ready.prefix(Int(count)) {
      switch event.descriptor {
      case caller.number: wake.isCalled = drain(caller)
      case timer.number: wake.isDue = drain(timer)
      case clock.number:
        // The read says ECANCELED once for all the jumps before it; the timer goes on watching.
        _ = drain(clock)
      default:
        wake.hasEvents = true
        wake.hasError = event.events & EPOLLERR.rawValue != 0
      }
    }
    return wake
  }

  /// Reads the counter of an eventfd or timerfd; false when it is zero: the moment was put off in between.
  private func drain(_ descriptor: Descriptor) -> Bool {
    var count: UInt64 = 0
    return Syscall.raw { () -> Int in unsafe read(descriptor.number, &count, MemoryLayout<UInt64>.size) } > 0
  }
}
