internal import EventStreams
internal import EventLoop

/// What an open stream by callback has sent and has yet to send.
final class HTTPCallbackStream {
  let stream: EventStreamResponse
  /// The body is sent in chunks, which HTTP/1.0 does not have.
  let isChunked: Bool
  /// The position in each feed's log.
  private var cursors: [EventLog.Cursor]
  /// Bytes to send before further entries: preamble, heartbeat or close event.
  private var outbox: [UInt8]
  private var outboxSent = 0
  /// The close event is in the outbox, or was sent.
  private(set) var hasCloseEvent = false
  /// When the client last took bytes, or the stream was opened.
  var lastWrite: MonotonicInstant
  /// Bytes of the logs that the stream may be behind: a replay may begin further back than a slow reader may fall.
  private var lagLimit: Int
  /// What to send before the entries; nil when everything was read.
  private(set) var history: (any StreamHistory)?
  /// The next piece of the history was requested.
  var awaitsPiece = false
  private var hasHistoryFailed = false

  init(_ stream: EventStreamResponse, isChunked: Bool, now: MonotonicInstant, lagLimit: Int) {
    self.stream = stream
    self.isChunked = isChunked
    cursors = stream.feeds.map(\.cursor)
    outbox = stream.preamble
    history = stream.history
    lastWrite = now
    // A stream with an end has a log of its own, which evicts nothing that the client needs.
    self.lagLimit =
      stream.endsAfter != nil ? .max : lagLimit + stream.feeds.reduce(0) { $0 + ($1.log.lag(of: $1.cursor) ?? 0) }
  }

  /// The id up to which everything in the first log was sent or passed over.
  var lastID: UInt64 { cursors[0].lastID }

  /// The stream has sent the last entry before its own end, or cannot continue.
  var isAtEnd: Bool { hasHistoryFailed || stream.endsAfter.map { lastID >= $0 } ?? false }

  /// The stream is further behind than it may be, or has missed entries.
  var isLagging: Bool {
    guard history == nil else { return false }
    var sum = 0
    for (feed, cursor) in zip(stream.feeds, cursors) {
      guard let lag = feed.log.lag(of: cursor) else { return true }
      sum += lag
    }
    return sum > lagLimit
  }

  /// Passes over unwanted entries.
  ///
  /// - Returns: whether a read would return something.
  func advance() -> Bool {
    guard history == nil else { return false }
    var hasNews = false
    for index in cursors.indices {
      let feed = stream.feeds[index]
      if feed.log.advance(&cursors[index], feed.selection) { hasNews = true }
    }
    return hasNews
  }

  /// Puts a piece of the history before the entries.
  func add(_ piece: StreamPiece) {
    awaitsPiece = false
    switch piece {
    case .more(let frames): outbox += frames
    case .last(let frames, let cursor):
      outbox += frames
      cursors[0] = cursor
      lagLimit += stream.feeds[0].log.lag(of: cursor) ?? 0
      history = nil
    case .unavailable: hasHistoryFailed = true
    }
  }

  /// Puts a heartbeat before further entries; without the position, which would be wrong before the end of the history.
  func addHeartbeat() {
    outbox = history == nil ? stream.heartbeat.bytes(lastID: lastID) : stream.heartbeat.bytes
  }

  /// Puts the close event after everything that was sent; no entry follows it.
  func add(closeEvent: [UInt8]) {
    hasCloseEvent = true
    outbox = closeEvent
    outboxSent = 0
  }

  /// Moves bytes of the outbox to a buffer; returns their number.
  func takeOutbox(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard !outbox.isEmpty else { return 0 }
    let count = min(buffer.count, outbox.count - outboxSent)
    unsafe buffer.copyBytes(from: outbox[outboxSent..<outboxSent + count])
    let isDone = outboxSent + count == outbox.count
    outboxSent = isDone ? 0 : outboxSent + count
    if isDone { outbox = [] }
    return count
  }

  /// Reads further entries, of one log per call.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> EventLog.Read {
    // Unfinished outbox bytes fill the buffer; nothing follows a close event.
    guard !hasCloseEvent, history == nil, unsafe !buffer.isEmpty else { return .empty }
    // An entry that is sent in part is continued first, in whichever log it is.
    let half = cursors.firstIndex { $0.offset > 0 }
    for index in half.map({ $0..<$0 + 1 }) ?? cursors.indices {
      let feed = stream.feeds[index]
      let read = unsafe feed.log.read(&cursors[index], feed.selection, into: buffer)
      if read != .empty { return read }
    }
    return .empty
  }
}
