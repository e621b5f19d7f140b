internal import CAres
internal import Glibc

/// epoll with one timer, for the thread that owns it (epoll(7), timerfd_create(2)).
final class EventPoller {
  /// A descriptor that can be read from or written to without waiting.
  struct Ready {
    let descriptor: Int32
    let isReadable: Bool
    let isWritable: Bool
  }

  private let epoll: Int32
  private let timer: Int32

  /// Throws if the process has no descriptors left.
  init() throws(ResolutionFailure) {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
    guard epoll >= 0, timer >= 0, watch(timer, reading: true, writing: false) else {
      let code = errno
      throw .serverFailure("epoll: \(unsafe String(cString: strerror(code)))")
    }
  }

  deinit {
    if epoll >= 0 { close(epoll) }
    if timer >= 0 { close(timer) }
  }

  /// Watches a descriptor, changes what for, or (neither) stops; false if the kernel refuses.
  @discardableResult
  func watch(_ descriptor: Int32, reading: Bool, writing: Bool) -> Bool {
    guard reading || writing else { return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil) == 0 }
    var event = unsafe epoll_event()
    let events = (reading ? EPOLLIN.rawValue : 0) | (writing ? EPOLLOUT.rawValue : 0)
    unsafe event.events = events
    unsafe event.data.fd = descriptor
    if unsafe epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) == 0 { return true }
    return unsafe epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0
  }

  /// Sets the timer to ring once after `delay`; nil: not at all.
  func ring(after delay: Duration?) {
    var setting = itimerspec()
    if let delay {
      let (seconds, attoseconds) = max(delay, .nanoseconds(1)).components  // zero would disarm it
      setting.it_value = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    }
    unsafe timerfd_settime(timer, 0, &setting, nil)
  }

  /// Waits for descriptors; a ringing timer ends the wait, and is not among them.
  func wait() -> [Ready] {
    var events = unsafe [epoll_event](repeating: epoll_event(), count: Limits.epollEvents)
    let count = unsafe epoll_wait(epoll, &events, Int32(Limits.epollEvents), -1)
    var ready: [Ready] = []
    for index in 0..<max(0, Int(count)) {
      let descriptor = unsafe events[index].data.fd
      let flags = unsafe events[index].events
      if descriptor == timer {
        Self.drain(timer)
        continue
      }
      // An error or a hang-up is shown to whoever reads or writes next.
      let broken = flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
      ready.append(
        Ready(
          descriptor: descriptor, isReadable: broken || flags & EPOLLIN.rawValue != 0,
          isWritable: flags & EPOLLOUT.rawValue != 0))
    }
    return ready
  }

  /// Empties an eventfd or a timerfd.
  static func drain(_ descriptor: Int32) {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
  }
}
