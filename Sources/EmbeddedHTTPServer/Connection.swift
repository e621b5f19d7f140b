/// One client connection, from accept to close.
///
/// Lives on the server's thread only.
@safe final class Connection {
  /// How far the current request is.
  enum Phase {
    /// Between requests, or in the middle of a head.
    case head
    /// The head passed; the body is read.
    case body
    /// A promise was given; the connection is suspended.
    case deferred
    /// An answer was queued.
    case answered
    /// The answer is a stream.
    case streaming
  }

  /// Names the connection where it may be gone by the time it is looked for; never used twice.
  let token: UInt64
  /// libmicrohttpd's connection, alive until it says that the connection is closed.
  let handle: OpaquePointer
  /// The socket, likewise.
  let descriptor: Int32
  unowned let loop: ServerLoop

  var phase = Phase.head
  /// Number of the current request on this connection, so that a late answer does not meet the next request.
  var requestNumber: UInt64 = 0
  /// A request line has come on it, at whatever time.
  var hasReceivedRequest = false
  /// The current request's line is complete.
  var hasRequestLine = false
  /// The target as the request line had it.
  var target = ""
  var request: HTTPRequest?
  /// The last head that passed: clients that ask again on a connection mostly send the same bytes.
  var cachedHead: CachedRequestHead?
  /// The current request has that head, and its answer stood when it came; ``request`` is not set then.
  var reusesCachedHead = false
  /// The current request's head announced a body that is not complete yet.
  var awaitsBody = false {
    didSet { if awaitsBody != oldValue { loop.bodiesAwaited += awaitsBody ? 1 : -1 } }
  }
  /// The answer to a deferred request, once it is there.
  var reply: HTTPResponse?
  /// When the current request's head was complete, as far as anybody asks.
  var headTime: UInt64 = 0
  /// What the current request waits for; nil when it does not.
  var wait: Wait?
  /// Told when nobody waits for the promised answer any more; it makes sure itself that the promise was not kept.
  var abandoned: (@Sendable () -> Void)?
  /// When the promised answer must be there.
  var replyDeadline: UInt64?
  /// When a client that closed its side while it waits is sent something.
  var halfClosedDeadline: UInt64?
  /// The loop counts the current request among those that a stop waits for.
  var isInFlight = false
  var stream: StreamState?
  var isSuspended = false
  /// The client is known to be gone.
  var isDisconnected = false
  /// The socket is a stream of the hub's now, and libmicrohttpd about to close its copy.
  var isTakenOver = false
  /// The socket is in our own epoll set.
  var isWatched = false
  /// libmicrohttpd looks at it in every turn; see `keepPolled`.
  var isPolledByLibrary = false
  /// Was refused past libmicrohttpd: nothing more is answered.
  var isAborted = false
  /// Too many connections of its address are open.
  var exceedsAddressLimit = false
  /// As many connections as there may be were open when it came, and nothing of it was answered since.
  var exceedsConnectionLimit = false
  /// An answer was given before everything was read: close by halves.
  var lingers = false
  /// When the request must be complete; nil while the server is to act.
  var requestDeadline: UInt64?
  /// The heap holds an entry that will look at `requestDeadline`.
  var hasRequestTimer = false
  /// The address that it is counted under, where connections are limited by address.
  var slotAddress: String?
  /// Address and port of the client, made on first use.
  var peer: String?
  /// What the client was shown in the handshake; it must live until that is over.
  var identity: TLSIdentity?

  /// A wait that goes on.
  struct Wait {
    let expired: @Sendable () -> HTTPResponse
    /// Nil only while the wait begins.
    var end: (@Sendable () -> Void)?
  }

  /// An answer was promised and has not come.
  var awaitsReply: Bool { phase == .deferred && reply == nil }

  /// A request line is there and the rest of its head is not.
  var isMidHead: Bool { phase == .head && hasRequestLine && !isAborted }

  init(token: UInt64, handle: OpaquePointer, descriptor: Int32, loop: ServerLoop) {
    self.token = token
    unsafe self.handle = handle
    self.descriptor = descriptor
    self.loop = loop
  }
}

/// What an open stream has sent and has yet to send.
struct StreamState {
  let stream: HTTPStream
  /// The body goes out in chunks: HTTP/1.0 knows none.
  let isChunked: Bool
  /// The place in each feed's log.
  var cursors: [EventLog.Cursor]
  /// Bytes to send before the logs go on: preamble, heartbeat or farewell.
  var outbox: [UInt8]
  var outboxSent = 0
  var hasCloseEvent = false
  /// When it is looked at for a heartbeat.
  var nextBeat: UInt64 = 0
  /// When the reader last took bytes, or the stream was opened.
  var lastWrite: UInt64
  /// Bytes of the logs it may be behind: a replay may begin further back than a slow reader may fall.
  let lagLimit: Int

  init(_ stream: HTTPStream, isChunked: Bool, now: UInt64, lagLimit: Int) {
    self.stream = stream
    self.isChunked = isChunked
    cursors = stream.feeds.map(\.cursor)
    outbox = stream.preamble
    lastWrite = now
    // Who reads an answer that ends slowly misses nothing, for its log is its own: a pause is no reason to cut it.
    self.lagLimit =
      stream.endsAfter != nil ? .max : lagLimit + stream.feeds.reduce(0) { $0 + ($1.log.lag(of: $1.cursor) ?? 0) }
  }

  /// Bytes it is behind; nil when something was missed already.
  var lag: Int? {
    var sum = 0
    for (feed, cursor) in zip(stream.feeds, cursors) {
      guard let lag = feed.log.lag(of: cursor) else { return nil }
      sum += lag
    }
    return sum
  }

  /// Passes over unwanted entries and tells whether a read would bring something.
  mutating func advance() -> Bool {
    var hasNews = false
    for index in cursors.indices {
      let feed = stream.feeds[index]
      if feed.log.advance(&cursors[index], feed.selection) { hasNews = true }
    }
    return hasNews
  }

  /// Reads on, in one log at a time.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> EventLog.Read {
    // An entry that is half sent goes first, whichever log it is in.
    let half = cursors.firstIndex { $0.offset > 0 }
    for index in half.map({ $0..<$0 + 1 }) ?? cursors.indices {
      let feed = stream.feeds[index]
      let read = unsafe feed.log.read(&cursors[index], feed.selection, into: buffer)
      if read != .empty { return read }
    }
    return .empty
  }
}
