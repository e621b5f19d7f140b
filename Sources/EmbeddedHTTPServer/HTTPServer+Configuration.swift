internal import EventStreams
internal import Synchronization

extension HTTPServer {
  /// What a server needs to know; everything but the address has a default.
  public struct Configuration: Sendable {
    /// Where to listen.
    public var address: ListenAddress
    /// A listening socket to serve on instead of binding ``address``; the server closes it.
    public var inherited: Int32?
    /// The mode of a Unix-domain socket's file (chmod(2)): who may write to it may connect.
    public var socketMode: UInt32 = 0o660
    /// Who the server is under TLS; nil for plain HTTP.
    public var identity: TLSIdentity?
    /// How long clients are told, under TLS, to come by TLS only (RFC 6797); nil to tell them nothing.
    public var strictTransport: Duration?
    /// How many servers share this process's descriptors; none of them may take those of the others.
    public var servers = 1
    /// Connections at once; one more is answered 503.
    ///
    /// Nil derives it from the descriptor limit, less 256, shared among the ``servers``, and at most 20,000.
    public var connectionLimit: Int?
    /// Connections at once from one address; one more is answered 429.
    ///
    /// Nil for any number: a proxy is one address.
    public var connectionsPerAddress: Int?
    /// Event streams at once; one more is answered 503.
    public var streamLimit = Limits.streams
    /// Bytes of a request body; more is answered 413.
    public var requestBodyLimit = Limits.requestBody
    /// Time for a request's head to be complete; 408 when it is over, or nothing to who has sent no request line.
    public var requestHeadTime = Limits.requestHead
    /// Time for a request's body to be complete after its head; 408 when it is over.
    public var requestBodyTime = Limits.requestBodyTime
    /// Time without a byte after which a connection is closed, in whole seconds; streams and promises are exempt.
    public var inactivity = Duration.seconds(Int64(Limits.inactivitySeconds))
    /// Time for a promised answer; 500 when it is over.
    public var replyTime = Limits.reply
    /// How streams reach their clients.
    public var streams = StreamMode.auto
    /// Bytes of the log a stream may be behind while its socket takes nothing.
    public var streamLag = Limits.streamLag
    /// Milliseconds without a turn while nothing but handshakes and bodies is waited for; tests lengthen it.
    var handshakePause = Limits.handshakePause

    /// The defaults for an address.
    public init(address: ListenAddress) {
      self.address = address
    }

    /// The defaults for a socket that listens already, such as one from a service manager.
    public init(inheriting descriptor: Int32) {
      address = ListeningSocket.address(of: descriptor) ?? ListenAddress(host: "0.0.0.0", port: 0)
      inherited = descriptor
    }
  }

  /// What a server has done and is doing; totals since the start unless said otherwise.
  public struct Counters: Sendable, Equatable {
    /// Connections open now, those that were taken over as streams included.
    public var connections = 0
    /// Connections accepted.
    public var accepted = 0
    /// Requests whose head was complete, refused ones included; without those that libmicrohttpd refuses itself.
    public var requests = 0
    /// Requests refused by the guard, by libmicrohttpd itself, or for their size.
    public var refused = 0
    /// Requests answered 503, or 429 for one address, because too many connections or streams were open.
    public var overloaded = 0
    /// Connections closed because a request was not complete in time.
    public var expired = 0
    /// Requests that wait for news now.
    public var waiting = 0
    /// Streams open now.
    public var streams = 0
    /// Streams opened.
    public var streamsOpened = 0
    /// Streams cut because their reader was too slow.
    public var streamsLagged = 0
    /// Streams whose reader went away.
    public var streamsGone = 0
    /// Bytes of bodies and streams handed over for sending, without heads and framing.
    public var bodyBytes = 0
  }
}

/// The counters as the thread writes and others read them.
final class ServerCounters: Sendable {
  let connections = Atomic(0)
  let accepted = Atomic(0)
  let requests = Atomic(0)
  let refused = Atomic(0)
  let overloaded = Atomic(0)
  let expired = Atomic(0)
  let waiting = Atomic(0)
  let streams = StreamCounters()
  let bodyBytes = Atomic(0)
  /// Turns of the loop, and the monotonic time of the last one in nanoseconds.
  let turns = Atomic<UInt64>(0)
  let lastTurn = Atomic<UInt64>(0)

  var snapshot: HTTPServer.Counters {
    HTTPServer.Counters(
      connections: connections.load(ordering: .relaxed), accepted: accepted.load(ordering: .relaxed),
      requests: requests.load(ordering: .relaxed), refused: refused.load(ordering: .relaxed),
      overloaded: overloaded.load(ordering: .relaxed), expired: expired.load(ordering: .relaxed),
      waiting: waiting.load(ordering: .relaxed),
      streams: streams.open.load(ordering: .relaxed), streamsOpened: streams.opened.load(ordering: .relaxed),
      streamsLagged: streams.lagged.load(ordering: .relaxed), streamsGone: streams.gone.load(ordering: .relaxed),
      bodyBytes: bodyBytes.load(ordering: .relaxed) + streams.bytes.load(ordering: .relaxed))
  }
}
