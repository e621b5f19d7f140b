internal import CEventLoop
internal import Glibc

/// An epoll instance (epoll(7)).
///
/// Confined to the thread that waits on it.
@safe package final class Poller {
  /// What epoll reports for a descriptor, and how.
  package struct Events: OptionSet, Sendable {
    /// The bits of `struct epoll_event`.
    package let rawValue: UInt32

    /// Makes a set from the bits of `struct epoll_event`.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// EPOLLIN: a read does not block.
    package static let readable = Events(rawValue: EPOLLIN.rawValue)
    /// EPOLLOUT: a write does not block.
    package static let writable = Events(rawValue: EPOLLOUT.rawValue)
    /// EPOLLRDHUP: the peer has closed its sending side.
    package static let peerClosed = Events(rawValue: EPOLLRDHUP.rawValue)
    /// EPOLLHUP: both sides are closed; always reported.
    package static let hangUp = Events(rawValue: EPOLLHUP.rawValue)
    /// EPOLLERR: the descriptor has an error; always reported.
    package static let error = Events(rawValue: EPOLLERR.rawValue)
    /// EPOLLET: report changes only, not the state.
    package static let edgeTriggered = Events(rawValue: EPOLLET.rawValue)
  }

  package struct Event: Sendable {
    /// The token that the descriptor was added with.
    package let token: UInt64
    package let events: Events

    /// The token as a descriptor, for those that were added without another token.
    package var descriptor: Int32 { Int32(truncatingIfNeeded: token) }
    /// Whether a read does not block; true for a broken descriptor too, because the read returns the error.
    package var isReadable: Bool { !events.isDisjoint(with: [.readable, .peerClosed, .hangUp, .error]) }
    /// Whether a write does not block.
    package var isWritable: Bool { events.contains(.writable) }
  }

  /// The token of the mailbox of a ``MailboxThread``; no descriptor has this number.
  package static let mailboxToken = UInt64.max

  private let epoll: Int32
  private let buffer: UnsafeMutablePointer<epoll_event>

  /// The largest number of events per wait; after a wait that returned so many, more may be ready.
  package let capacity: Int

  /// Makes an instance that reports up to `capacity` events per wait.
  ///
  /// - Throws: an ``EventLoopError`` if the process or the system has no descriptors left.
  package init(capacity: Int) throws(EventLoopError) {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    unsafe buffer = .allocate(capacity: capacity)
    unsafe buffer.initialize(repeating: epoll_event(), count: capacity)
    self.capacity = capacity
    guard epoll >= 0 else { throw EventLoopError(operation: "epoll_create1", errno: errno) }
  }

  deinit {
    if epoll >= 0 { close(epoll) }
    unsafe buffer.deallocate()
  }

  /// Adds a descriptor until it is removed or closed.
  ///
  /// - Parameters:
  ///   - descriptor: an open descriptor that the instance does not contain.
  ///   - events: what to report.
  ///   - token: identifies the descriptor in ``Event``; nil for the descriptor itself.
  /// - Throws: an ``EventLoopError`` if the kernel refuses.
  package func add(_ descriptor: Int32, _ events: Events, token: UInt64? = nil) throws(EventLoopError) {
    try control("add", EPOLL_CTL_ADD, descriptor, events, token)
  }

  /// Replaces what is reported for a descriptor, and adds it if the instance does not contain it.
  ///
  /// - Throws: an ``EventLoopError`` if the kernel refuses.
  package func set(_ descriptor: Int32, _ events: Events, token: UInt64? = nil) throws(EventLoopError) {
    do throws(EventLoopError) {
      try control("modify", EPOLL_CTL_MOD, descriptor, events, token)
    } catch {
      guard error.errno == ENOENT else { throw error }
      try add(descriptor, events, token: token)
    }
  }

  /// Removes a descriptor; no effect if the instance does not contain it.
  package func remove(_ descriptor: Int32) { epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil) }

  private func control(
    _ name: String, _ operation: Int32, _ descriptor: Int32, _ events: Events, _ token: UInt64?
  ) throws(EventLoopError) {
    let event = CEventLoop_Event(token: token ?? UInt64(UInt32(bitPattern: descriptor)), events: events.rawValue)
    guard CEventLoop_control(epoll, operation, descriptor, event) == 0 else {
      throw EventLoopError(operation: "epoll_ctl \(name)", errno: errno)
    }
  }

  /// Waits until a descriptor is ready, for at most `timeout`; nil for no limit.
  ///
  /// - Returns: the number of events, to be read with ``subscript(_:)`` before the next wait; 0 after the timeout, and
  ///   when the process was stopped and continues (signal(7)).
  package func wait(atMost timeout: Duration?) -> Int {
    var milliseconds: Int32 = -1
    if let timeout {
      // Rounded up: a wait that ends before the deadline leads to one more wait.
      let nanoseconds = max(timeout, .zero).wholeNanoseconds
      milliseconds = Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0))
    }
    let progress = LoopProgress.current
    progress?.endTurn()
    defer { progress?.beginTurn() }
    let count = unsafe epoll_wait(epoll, buffer, Int32(clamping: capacity), milliseconds)
    if count >= 0 { return Int(count) }
    // The arguments are valid while this object exists: any other error is memory corruption or a descriptor that was
    // closed by mistake.
    precondition(errno == EINTR, "epoll_wait: \(EventLoopError(operation: "epoll_wait", errno: errno))")
    return 0
  }

  /// An event of the last wait.
  package subscript(index: Int) -> Event {
    precondition(index >= 0 && index < capacity, "an event's index must be less than the capacity")
    let event = unsafe CEventLoop_event(buffer, Int32(truncatingIfNeeded: index))
    return Event(token: event.token, events: Events(rawValue: event.events))
  }
}
