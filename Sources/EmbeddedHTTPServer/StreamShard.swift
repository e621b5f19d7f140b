internal import CMicroHTTPD
internal import Glibc

/// One thread with its part of the open streams: it owns their sockets, and nothing else may touch them.
///
/// New entries are copied out of a log once a pass and sent to every follower from there, so that a burst becomes one
/// `send` a follower, and neither the log's lock nor a reference count is touched in between.
@safe final class StreamShard {
  /// A stream on its way from the server's thread to this one.
  struct StreamHandoff: Sendable {
    let descriptor: Int32
    let stream: HTTPStream
    /// What of head and preamble is not sent yet.
    let unsent: [UInt8]
    /// Kept with the stream, where connections are limited by address.
    let slotAddress: PerAddressSlot?
  }

  enum Message: Sendable {
    case adopt(StreamHandoff)
    case endStreams(closeEvent: [UInt8])
    case stop
  }

  /// What a stream is missing whose socket was full, or that began in the past.
  struct Backlog {
    /// Where it stands in its feeds' logs.
    var cursors: [EventLog.Cursor]
    /// Bytes that come before the logs go on: preamble, the rest of a heartbeat, farewell.
    var outbox: [UInt8] = []
    var outboxSent = 0
    var hasCloseEvent = false
    /// Bytes it may be behind: a replay may begin further back than a slow reader may fall.
    var lagLimit: Int
    /// When it last took bytes, in monotonic nanoseconds.
    var lastTaken: UInt64
  }

  static let inboxToken = UInt64.max

  let inbox: Inbox<Message>
  let counters: ServerCounters
  let lagLimit: Int
  /// Called when the last stream has ended after a farewell.
  let onIdle: @Sendable () -> Void
  private let poller: Int32

  var slots = StreamSlots()
  var backlogs: [Int32: Backlog] = [:]
  /// What some streams keep until they end.
  var attachments: [Int32: [any AnyObject & Sendable]] = [:]
  /// Channels by number; number 0 is none.
  var channels: [StreamChannel?] = [nil]
  var channelNumbers: [StreamChannel.Key: Int32] = [:]
  var sources: [ObjectIdentifier: StreamSource] = [:]
  /// What each channel's followers are to be sent now; filled and emptied within one pass.
  var outgoing: [UnsafeRawBufferPointer] = unsafe [UnsafeRawBufferPointer(start: nil, count: 0)]
  var batch = EventLogBatch(fill: Limits.streamBatch)
  var closeEvent: [UInt8]?
  private var isStopping = false
  private let start = MonotonicClock.now
  /// The time of this turn.
  private(set) var now: UInt64

  /// Nil when the system has no descriptor left.
  init?(counters: ServerCounters, lagLimit: Int, onIdle: @escaping @Sendable () -> Void) {
    guard let inbox = Inbox<Message>() else { return nil }
    self.inbox = inbox
    self.counters = counters
    self.lagLimit = lagLimit
    self.onIdle = onIdle
    now = start
    poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard poller >= 0 else { return nil }
    guard inbox.watch(in: poller, token: Self.inboxToken) else { return nil }
  }

  deinit { if poller >= 0 { close(poller) } }

  /// The tick of this turn.
  var tick: UInt32 { UInt32(truncatingIfNeeded: (now - start) / StreamSlots.tick) }

  /// Serves until told to stop.
  func run() {
    while !isStopping {
      poll()
      while let due = slots.takeDue(tick) { checkHeartbeat(due) }
    }
    for case .adopt(let handoff) in inbox.closeDown() { refuse(handoff) }
    for number in 0..<Int32(slots.used) where slots[number].descriptor >= 0 { drop(number) }
  }

  private func poll() {
    unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Limits.polledStreams) { events in
      let count = unsafe epoll_wait(poller, events.baseAddress, Int32(events.count), timeoutMilliseconds())
      now = MonotonicClock.now
      for index in 0..<Int(max(0, count)) {
        let event = unsafe events[index]
        let token = unsafe event.data.u64
        if token != Self.inboxToken { unsafe handle(token, event.events) }
      }
    }
    guard inbox.hasWork else { return }
    let messages = inbox.take()
    // Before anybody joins: whoever does has a cursor from before now.
    distribute()
    for message in messages { handle(message) }
  }

  private func timeoutMilliseconds() -> Int32 {
    if inbox.hasWork { return 0 }
    guard let tick = slots.nextTick else { return -1 }
    let due = start + UInt64(tick) * StreamSlots.tick
    let current = MonotonicClock.now
    return due > current ? Int32(clamping: (due - current + 999_999) / 1_000_000) : 0
  }

  private func handle(_ message: Message) {
    switch message {
    case .adopt(let handoff): adopt(handoff)
    case .endStreams(let bytes):
      closeEvent = closeEvent ?? bytes
      for number in 0..<Int32(slots.used) where slots[number].descriptor >= 0 {
        if !slots[number].isBehind { fallBehind(number) }
        catchUp(number)
      }
      if slots.count == 0 { onIdle() }
    case .stop: isStopping = true
    }
  }

  private func handle(_ token: UInt64, _ events: UInt32) {
    let number = Int32(truncatingIfNeeded: token & 0xffff_ffff)
    // The stream that the event was meant for may be gone, and its slot another's.
    guard number < slots.used, slots[number].descriptor >= 0,
      slots[number].generation == UInt32(truncatingIfNeeded: token >> 32)
    else { return }
    if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 {
      counters.streamsGone.increment()
      return finish(number)
    }
    if events & EPOLLIN.rawValue != 0 { discard(slots[number].descriptor) }
    if events & EPOLLOUT.rawValue != 0, slots[number].isBehind { catchUp(number) }
  }

  /// Has the kernel tell of a stream's socket, once for each change.
  func watch(_ number: Int32) -> Bool {
    let token = UInt64(slots[number].generation) << 32 | UInt64(UInt32(bitPattern: number))
    let wanted = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
    var event = unsafe epoll_event(events: wanted, data: epoll_data_t(u64: token))
    return unsafe epoll_ctl(poller, EPOLL_CTL_ADD, slots[number].descriptor, &event) == 0
  }

  /// Throws away what a client sends on a stream: what is unread at the end resets the connection.
  func discard(_ descriptor: Int32) {
    // Without looking (tcp(7): MSG_TRUNC), which sockets of one machine do not know.
    let count = recv(descriptor, nil, Limits.streamDiscard, Int32(MSG_DONTWAIT | MSG_TRUNC))
    guard count < 0, errno == EFAULT else { return }
    unsafe withUnsafeTemporaryAllocation(byteCount: Limits.streamPiece, alignment: 1) { buffer in
      for _ in 0..<Limits.streamDiscard / buffer.count {
        guard unsafe recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) == buffer.count else {
          return
        }
      }
    }
  }
}
