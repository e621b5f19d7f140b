internal import DequeModule
internal import EventLoop
internal import Glibc

/// A thread that serves a part of the open streams; only this thread uses their sockets.
///
/// A pass copies new entries out of a log once and sends them to every subscriber without holding the log's lock.
@safe package final class StreamShard {
  enum Message: Sendable {
    case adopt(StreamHandoff)
    /// A piece of a stream's history, for the generation of a slot.
    case piece(StreamPiece, Int32, generation: UInt32)
    case endStreams(closeEvent: [UInt8])
    case limitStalled(Int)
    case stop
  }

  let inbox: Mailbox<Message>
  let counters: StreamCounters
  private let lagLimit: Int
  /// Called when the last stream has ended after a close event.
  private let onIdle: @Sendable () -> Void
  /// Called after a stream's socket was closed.
  private let onClose: @Sendable () -> Void
  private let poller: Poller

  var slots = StreamSlots()
  var backlogs: [Int32: StreamBacklog] = [:]
  private var attachments: [Int32: [any AnyObject & Sendable]] = [:]
  /// ``EventStreamResponse/isPermitted`` of the streams that have one.
  private var permissions: [Int32: @Sendable () -> Bool] = [:]
  let channels: StreamChannels
  var batch = EventLogBatch(fill: Limits.streamBatch)
  private(set) var closeEvent: [UInt8]?
  private var isStopping = false
  /// The streams behind that are in the counters.
  private var countedBehind = 0
  private let start = MonotonicInstant.now
  private(set) var now: MonotonicInstant

  /// Makes a shard without streams.
  ///
  /// - Throws: an ``EventLoopError`` if the process or the system has no descriptors left.
  init(
    counters: StreamCounters, lagLimit: Int, onClose: @escaping @Sendable () -> Void,
    onIdle: @escaping @Sendable () -> Void
  ) throws(EventLoopError) {
    inbox = try Mailbox()
    poller = try Poller(capacity: Limits.polledStreams)
    (self.counters, self.lagLimit) = (counters, lagLimit)
    (self.onClose, self.onIdle) = (onClose, onIdle)
    channels = StreamChannels { [inbox] in inbox.wake() }
    now = start
    try inbox.attach(to: poller, token: Poller.mailboxToken)
  }

  /// The tick of this turn.
  var tick: UInt32 { UInt32(truncatingIfNeeded: (now.nanoseconds - start.nanoseconds) / StreamSlots.tick) }

  /// Serves streams until a stop message.
  func run() {
    while !isStopping {
      poll()
      while let due = slots.takeDue(tick) {
        if permissions[due]?() == false { drop(due) } else { checkHeartbeat(due) }
      }
      countBehind()
    }
    inbox.close()
    for case .adopt(let handoff) in inbox.take().messages { refuse(handoff) }
    for number in 0..<Int32(slots.used) where slots[number].descriptor >= 0 { drop(number) }
  }

  private func poll() {
    let count = poller.wait(atMost: timeout)
    now = .now
    for index in 0..<count {
      let event = poller[index]
      if event.token != Poller.mailboxToken { handle(event) }
    }
    guard inbox.hasWork else { return }
    let messages = inbox.take().messages
    // Before streams are adopted: their cursors are older than this turn.
    distribute()
    for message in messages { handle(message) }
  }

  private func countBehind() {
    guard backlogs.count != countedBehind else { return }
    counters.behind.add(backlogs.count - countedBehind)
    countedBehind = backlogs.count
  }

  private var timeout: Duration? {
    if inbox.hasWork { return .zero }
    guard let tick = slots.nextTick else { return nil }
    return .nanoseconds(start.nanoseconds + Int64(tick) * StreamSlots.tick - MonotonicInstant.now.nanoseconds)
  }

  private func handle(_ message: Message) {
    switch message {
    case .adopt(let handoff): adopt(handoff)
    case .piece(let piece, let number, let generation): add(piece, to: number, generation)
    case .endStreams(let bytes):
      closeEvent = closeEvent ?? bytes
      for number in 0..<Int32(slots.used) where slots[number].descriptor >= 0 {
        if !slots[number].isBehind { fallBehind(number) }
        catchUp(number)
      }
      if slots.count == 0 { onIdle() }
    case .limitStalled(let count): limitStalled(to: count)
    case .stop: isStopping = true
    }
  }

  private func handle(_ event: Poller.Event) {
    let number = Int32(truncatingIfNeeded: event.token & 0xffff_ffff)
    // The stream of the event may have ended, and its slot may have another stream.
    guard number < slots.used, slots[number].descriptor >= 0,
      slots[number].generation == UInt32(truncatingIfNeeded: event.token >> 32)
    else { return }
    if !event.events.isDisjoint(with: [.peerClosed, .hangUp, .error]) {
      counters.gone.increment()
      // A stream that is behind may have sent a part of a chunk: its body stays incomplete.
      return slots[number].isBehind ? finish(number) : end(number)
    }
    if event.events.contains(.readable) { StreamSocket.discard(slots[number].descriptor) }
    if event.events.contains(.writable), slots[number].isBehind { catchUp(number) }
  }

  /// Adds a stream's socket to the poller, which reports each change once; false if the kernel refuses.
  func watch(_ number: Int32) -> Bool {
    let token = UInt64(slots[number].generation) << 32 | UInt64(UInt32(bitPattern: number))
    let events: Poller.Events = [.readable, .writable, .peerClosed, .edgeTriggered]
    return (try? poller.add(slots[number].descriptor, events, token: token)) != nil
  }

  // MARK: - Adding and removing streams

  /// Adopts a stream from the server's thread.
  func adopt(_ handoff: StreamHandoff) {
    let stream = handoff.stream
    let first = channels.follow(stream.feeds[0], stream.heartbeat)
    let second = stream.feeds.count > 1 ? channels.follow(stream.feeds[1], nil) : 0
    let number = slots.insert(handoff.descriptor, first: first, second: second, lastWrite: tick)
    let kept: [any AnyObject & Sendable] = [stream.attachment, stream.abandonment, handoff.slotAddress].compactMap(
      \.self)
    if !kept.isEmpty { attachments[number] = kept }
    permissions[number] = stream.isPermitted
    guard watch(number) else { return drop(number) }
    slots.plan(number, tick + interval(number))
    let lag = stream.feeds.reduce(0) { $0 + ($1.log.lag(of: $1.cursor) ?? 0) }
    backlogs[number] = StreamBacklog(
      history: stream.history, cursors: stream.feeds.map(\.cursor), outbox: handoff.unsent, lagLimit: lagLimit + lag,
      lastTaken: now)
    slots[number].isBehind = true
    catchUp(number)
  }

  /// Closes the socket of a stream that arrived after a stop.
  private func refuse(_ handoff: StreamHandoff) {
    close(handoff.descriptor)
    counters.open.decrement()
    onClose()
  }

  /// Marks a stream as behind: in one log from a given position, in the others from the shard's position.
  func fallBehind(_ number: Int32, _ source: StreamSource? = nil, at place: EventLog.Cursor? = nil) {
    let cursors = feeds(number).map { channel in
      if let place, channel.source === source { return place }
      return channel.source.cursor
    }
    slots[number].isBehind = true
    backlogs[number] = StreamBacklog(cursors: cursors, lagLimit: lagLimit, lastTaken: now)
  }

  /// Closes a stream's socket and frees its slot.
  func drop(_ number: Int32) {
    let slot = slots[number]
    // The close removes the epoll registration once the server's copy of the socket is closed, too. Until then the
    // generation identifies late events.
    close(slot.descriptor)
    slots.remove(number)
    backlogs[number] = nil
    channels.unfollow(slot.first)
    channels.unfollow(slot.second)
    counters.open.decrement()
    onClose()
    (attachments[number], permissions[number]) = (nil, nil)
    if closeEvent != nil, slots.count == 0 { onIdle() }
  }
}
