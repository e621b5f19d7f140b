internal import CAres
internal import Glibc

/// epoll for the thread that owns it (epoll(7)).
@safe package final class EventPoller {
  /// A descriptor that can be read from or written to without waiting.
  package struct Ready {
    package let descriptor: Int32
    /// Also when it is broken: an error or an end is shown to whoever reads or writes next.
    package let isReadable: Bool
    package let isWritable: Bool
  }

  private let epoll: Int32
  private let events: UnsafeMutableBufferPointer<epoll_event>

  /// Takes up to `capacity` events in one wait; throws if the process has no descriptors left.
  package init(capacity: Int) throws(ResolutionFailure) {
    unsafe events = .allocate(capacity: capacity)
    unsafe events.initialize(repeating: epoll_event())
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard epoll >= 0 else {
      let code = errno
      throw .serverFailure("epoll: \(unsafe String(cString: strerror(code)))")
    }
  }

  deinit {
    if epoll >= 0 { close(epoll) }
    unsafe events.deallocate()
  }

  /// Watches a descriptor, changes what for, or (neither) stops; false if the kernel refuses.
  @discardableResult
  package func watch(_ descriptor: Int32, reading: Bool, writing: Bool) -> Bool {
    guard reading || writing else { return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil) == 0 }
    let flags = (reading ? EPOLLIN.rawValue : 0) | (writing ? EPOLLOUT.rawValue : 0)
    return control(EPOLL_CTL_MOD, descriptor, flags) || control(EPOLL_CTL_ADD, descriptor, flags)
  }

  /// Watches a new descriptor for every change from now until it is closed (EPOLLET): one call for its whole life.
  package func add(_ descriptor: Int32) -> Bool {
    control(EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue)
  }

  private func control(_ operation: Int32, _ descriptor: Int32, _ flags: UInt32) -> Bool {
    var event = unsafe epoll_event()
    unsafe event.events = flags
    unsafe event.data.fd = descriptor
    return unsafe epoll_ctl(epoll, operation, descriptor, &event) == 0
  }

  /// The most descriptors that one wait tells of: after so many there may be more.
  package var capacity: Int { unsafe events.count }

  /// Waits until descriptors are ready, at most `longest` (nil: for ever); returns how many are.
  package func wait(_ longest: Duration?) -> Int {
    var milliseconds: Int32 = -1
    if let longest {
      // Rounded up: a wait that ends before its moment would only be another wait.
      let (seconds, attoseconds) = max(longest, .zero).components
      milliseconds = Int32(clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
    return max(0, Int(unsafe epoll_wait(epoll, events.baseAddress, Int32(events.count), milliseconds)))
  }

  /// One of those that the last wait told of.
  package subscript(index: Int) -> Ready {
    let flags = unsafe events[index].events
    let isBroken = flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue | EPOLLRDHUP.rawValue) != 0
    return unsafe Ready(
      descriptor: events[index].data.fd, isReadable: isBroken || flags & EPOLLIN.rawValue != 0,
      isWritable: flags & EPOLLOUT.rawValue != 0)
  }

  /// Empties an eventfd.
  package static func drain(_ descriptor: Int32) {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
  }
}
