internal import EventLoop
internal import Logging

/// What the parts of a server's loop share: settings, clock, timers, poller and the state of a stop.
///
/// Confined to the server's thread.
final class HTTPServerContext {
  /// The tokens of libmicrohttpd and the inbox; those of connections follow.
  static let daemonToken: UInt64 = 0
  static let inboxToken: UInt64 = 1

  private(set) var configuration: HTTPServerConfiguration
  let spans: Spans
  let connectionLimit: Int
  /// Bytes of memory that this server's connections may use in any case.
  let guaranteedMemory: Int
  /// The value of Strict-Transport-Security (RFC 6797) in every response; nil for no field.
  let strictTransport: String?
  /// libmicrohttpd counts in whole seconds and takes 0 for no timeout.
  let inactivitySeconds: UInt32
  let isLoopbackListener: Bool
  let isUnixListener: Bool
  /// The certificate and key under TLS; nil for plain HTTP.
  let identity: CurrentTLSIdentity?
  let answered: HTTPAccessObserver?
  let inbox: HTTPServerInbox
  let counters: HTTPServerCounters
  let logger: Logger

  /// Reports libmicrohttpd's epoll descriptor, the inbox, suspended connections and lingering sockets.
  let poller: Poller
  var timers = TimerQueue<HTTPServerTimer>()
  var stop = HTTPServerStopState()
  /// The time of this turn, so that one reading of the clock serves all connections.
  var now = MonotonicInstant.now
  /// libmicrohttpd needs another turn although its timeout does not show it.
  var needsTurn = false
  /// libmicrohttpd has called us, or the kernel has reported an event, since the last poll.
  var hadActivity = true
  var phases = HTTPConnectionPhaseCounts()

  init(
    configuration: HTTPServerConfiguration, address: ListenAddress, identity: CurrentTLSIdentity?, poller: Poller,
    inbox: HTTPServerInbox, counters: HTTPServerCounters, answered: HTTPAccessObserver?, logger: Logger
  ) {
    self.configuration = configuration
    spans = Spans(configuration)
    inactivitySeconds = UInt32(clamping: max(1, configuration.inactivity.components.seconds))
    connectionLimit = Self.connectionLimit(configuration, descriptors: ServerDescriptorLimit.raise(), logger)
    guaranteedMemory = configuration.memory.guaranteed / max(1, configuration.servers)
    isLoopbackListener = address.isLoopback
    isUnixListener = address.path != nil
    self.identity = identity
    strictTransport =
      identity == nil ? nil : configuration.strictTransport.map { "max-age=\($0.components.seconds)" }
    self.answered = answered
    self.inbox = inbox
    self.counters = counters
    self.logger = logger
    self.poller = poller
  }

  /// The configured limit, or what the descriptors allow; logs a warning if that is low.
  private static func connectionLimit(
    _ configuration: HTTPServerConfiguration, descriptors: Int, _ logger: Logger
  ) -> Int {
    let reserve = min(Limits.descriptorReserve, descriptors / Limits.smallReserve)
    let possible = max(1, min(Limits.connections, (descriptors - reserve) / max(1, configuration.servers)))
    let limit = configuration.connectionLimit ?? possible
    if possible < configuration.connectionLimit ?? Limits.lowConnectionLimit {
      logger.warning(
        "few descriptors",
        metadata: [
          "limit": .stringConvertible(descriptors), "possibleConnections": .stringConvertible(possible),
          "configuredConnections": .stringConvertible(limit),
          "hint": "raise the hard limit: ulimit -Hn, LimitNOFILE=, --ulimit nofile=",
        ])
    }
    return limit
  }

  /// Bytes of memory that this server's connections may use now.
  var availableMemory: Int { configuration.memory.available() / max(1, configuration.servers) }

  /// Replaces the limits that can change while the server runs; nil keeps the current value.
  func setLimits(streams: Int?, requestBody: Int?) {
    configuration.streamLimit = streams ?? configuration.streamLimit
    configuration.requestBodyLimit = requestBody ?? configuration.requestBodyLimit
  }

  /// The configured times in nanoseconds, computed once: arithmetic with `Duration` has 128 bits.
  struct Spans {
    let requestHead: Int64
    let requestBody: Int64
    let betweenRequests: Int64
    let reply: Int64

    init(_ configuration: HTTPServerConfiguration) {
      requestHead = configuration.requestHeadTime.nanoseconds
      requestBody = configuration.requestBodyTime.nanoseconds
      // An idle client has the inactivity time to send its first byte, and then the time for a head.
      betweenRequests = configuration.inactivity.nanoseconds + requestHead
      reply = configuration.replyTime.nanoseconds
    }
  }
}

/// A timer of a server's loop; the payload is the token of a connection or of a lingering socket.
enum HTTPServerTimer: Hashable, Sendable {
  /// A request's head or body must be complete.
  case request(UInt64)
  /// A promised response must have been given.
  case reply(UInt64)
  /// A stream without traffic needs a heartbeat.
  case heartbeat(UInt64)
  /// A client whose request was refused directly has had time to close the connection.
  case cut(UInt64)
  /// A lingering socket has been read long enough.
  case linger(UInt64)
  /// A client that closed its sending side is sent something, to find out whether it still reads.
  case halfClosed(UInt64)
  /// The memory of connections is examined.
  case memory
  /// A stop no longer waits for first requests.
  case lastRequests
  /// The remaining promised responses are answered 503 before a stop.
  case finalGrace
  /// The grace of a stop is over.
  case stop
}

struct HTTPServerStopState {
  /// The bytes that end every stream, once streams must end.
  var closeEvent: [UInt8]?
  /// Responses announce the close, so that clients use another connection for the next request.
  var announcesClose = false
  /// The end of a stop's grace; nil before a stop.
  var deadline: MonotonicInstant?
  /// The grace is nearly over: no more responses are promised.
  var isFinalGrace = false
  /// The loop ends now.
  var isStopping = false
  /// The end of the wait for first requests after the last accept; nil before it.
  var lastRequestsDeadline: MonotonicInstant?

  /// Streams are ended, or a stop was requested: connections close after their response.
  var isDraining: Bool { closeEvent != nil || deadline != nil }
}
