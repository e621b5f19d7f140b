internal import EventStreams
internal import Synchronization

/// The configuration of a server; everything but the address has a default.
public struct HTTPServerConfiguration: Sendable {
  /// The address to listen on.
  public var address: ListenAddress
  /// A listening socket to serve on instead of binding ``address``; the server closes it.
  public var inherited: Int32?
  /// The mode of a Unix-domain socket's file (chmod(2)): clients with write permission can connect.
  public var socketMode: UInt32 = 0o660
  /// Whether to listen on an address that no interface has yet (ip(7), IP_FREEBIND).
  public var addressMayBeAbsent = false
  /// The certificate and key under TLS; nil for plain HTTP.
  public var identity: ServerTLSIdentity?
  /// How long clients must use TLS only, in Strict-Transport-Security (RFC 6797); nil to omit the field.
  public var strictTransport: Duration?
  /// The number of servers among which this process's descriptors are divided.
  public var servers = 1
  /// The maximum number of open connections.
  ///
  /// A request on a further one takes the place of a connection whose exchange is unfinished, or of a long poll; it is
  /// answered 503 if there is none.
  /// Nil derives it from the descriptor limit, less 256, shared among the ``servers``, and at most 20,000.
  public var connectionLimit: Int?
  /// The maximum number of open connections from one address; further ones are answered 429.
  ///
  /// Nil means no limit, because a proxy is one address.
  public var connectionsPerAddress: Int?
  /// The maximum number of open event streams; further ones are answered 503.
  public var streamLimit = Limits.streams
  /// The maximum bytes of a request body; a longer one is answered 413.
  public var requestBodyLimit = Limits.requestBody
  /// The memory that the connections of all ``servers`` together may use.
  ///
  /// Beyond it, connections with unfinished exchanges, and then long polls, are ended, those that began first.
  public var memory = ConnectionMemoryLimit(Limits.memory)
  /// Time for a request's head to be complete; then 408, or no response if no request line was received.
  public var requestHeadTime = Limits.requestHead
  /// Time for a request's body to be complete after its head; then 408.
  public var requestBodyTime = Limits.requestBodyTime
  /// Time without a byte after which a connection is closed, in whole seconds; streams and promises are exempt.
  public var inactivity = Duration.seconds(Int64(Limits.inactivitySeconds))
  /// Time until a promised response must be given; then 500.
  public var replyTime = Limits.reply
  /// How streams reach their clients.
  public var streams = HTTPStreamMode.auto
  /// Bytes of the log that a stream may be behind while its socket accepts nothing.
  public var streamLag = Limits.streamLag
  /// Milliseconds of the pause while the server waits only for handshakes and bodies; tests lengthen it.
  var handshakePause = Limits.handshakePause
  /// Time after the last accept for which a stop waits for first requests; tests lengthen it.
  var lastRequestTime = Limits.lastRequests

  /// Makes the default configuration for an address.
  public init(address: ListenAddress) {
    self.address = address
  }

  /// Makes the default configuration for a socket that listens already, such as one from a service manager.
  public init(inheriting descriptor: Int32) {
    address = ListeningSocket.address(of: descriptor) ?? ListenAddress(host: "0.0.0.0", port: 0)
    inherited = descriptor
  }

  /// The memory that connections may use, in bytes.
  public struct ConnectionMemoryLimit: Sendable {
    /// What they may use in any case.
    public var guaranteed: Int
    /// Returns what they may use now, if that is more; called on the server's thread, at most ten times a second.
    public var available: @Sendable () -> Int

    /// A limit that does not change.
    public init(_ bytes: Int) { self.init(guaranteed: bytes) { bytes } }

    /// A limit that depends on what else uses memory.
    public init(guaranteed: Int, available: @escaping @Sendable () -> Int) {
      self.guaranteed = guaranteed
      self.available = available
    }
  }
}

extension HTTPServer {
  /// The counters of a server; totals since the start unless stated otherwise.
  public struct Counters: Sendable, Equatable {
    /// Connections open now, including those that were taken over as streams.
    public var connections = 0
    /// Connections accepted.
    public var accepted = 0
    /// Requests with a complete head, including refused ones, but not those that libmicrohttpd refuses itself.
    public var requests = 0
    /// Requests refused by validation, by libmicrohttpd itself, or for their size.
    public var refused = 0
    /// Requests answered 503, or 429 for one address, because too many connections or streams were open.
    public var overloaded = 0
    /// Connections closed because a request was not complete in time.
    public var expired = 0
    /// Connections ended to make room for others.
    public var displaced = 0
    /// Bytes of memory that connections are charged with now.
    public var memory = 0
    /// Bytes of memory that connections may use, as last read.
    public var memoryLimit = 0
    /// Requests that wait in a long poll now.
    public var waiting = 0
    /// Streams open now.
    public var streams = 0
    /// Streams opened.
    public var streamsOpened = 0
    /// Streams closed because their reader was too slow.
    public var streamsLagged = 0
    /// Streams whose client closed the connection.
    public var streamsGone = 0
    /// Bytes of bodies and streams handed over for sending, without heads; of taken-over streams with the framing of chunks.
    public var bodyBytes = 0

    init(_ counters: HTTPServerCounters) {
      connections = counters.connections.load(ordering: .relaxed)
      accepted = counters.accepted.load(ordering: .relaxed)
      requests = counters.requests.load(ordering: .relaxed)
      refused = counters.refused.load(ordering: .relaxed)
      overloaded = counters.overloaded.load(ordering: .relaxed)
      expired = counters.expired.load(ordering: .relaxed)
      displaced = counters.displaced.load(ordering: .relaxed)
      memory = counters.memory.load(ordering: .relaxed)
      memoryLimit = counters.memoryLimit.load(ordering: .relaxed)
      waiting = counters.waiting.load(ordering: .relaxed)
      streams = counters.streams.open.load(ordering: .relaxed)
      streamsOpened = counters.streams.opened.load(ordering: .relaxed)
      streamsLagged = counters.streams.lagged.load(ordering: .relaxed)
      streamsGone = counters.streams.gone.load(ordering: .relaxed)
      bodyBytes = counters.bodyBytes.load(ordering: .relaxed) + counters.streams.bytes.load(ordering: .relaxed)
    }
  }
}

/// The counters that the server's thread writes and other threads read.
final class HTTPServerCounters: Sendable {
  let connections = Atomic(0)
  let accepted = Atomic(0)
  let requests = Atomic(0)
  let refused = Atomic(0)
  let overloaded = Atomic(0)
  let expired = Atomic(0)
  let displaced = Atomic(0)
  let memory = Atomic(0)
  let memoryLimit = Atomic(0)
  let waiting = Atomic(0)
  let streams = StreamCounters()
  let bodyBytes = Atomic(0)
  /// Turns of the loop, and the monotonic time of the last one in nanoseconds.
  let turns = Atomic<UInt64>(0)
  let lastTurn = Atomic<UInt64>(0)
}
