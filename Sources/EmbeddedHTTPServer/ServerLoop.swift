internal import CGnuTLS
internal import CMicroHTTPD
internal import Glibc
internal import Logging
internal import Synchronization

/// The server's thread: it owns the daemon and every connection, and nothing else may touch them.
///
/// libmicrohttpd runs in external mode on this thread. That makes suspending and resuming free of races and, in
/// 0.9.75, of system calls: outside this mode each resume writes to a descriptor.
@safe final class ServerLoop {
  private(set) var configuration: HTTPServer.Configuration
  let spans: Spans
  let connectionLimit: Int
  /// What every answer says of RFC 6797; nil for nothing.
  let strictTransport: String?
  /// libmicrohttpd counts in whole seconds, and takes 0 for never.
  let inactivitySeconds: UInt32
  let isLoopbackListener: Bool
  let isUnixListener: Bool
  /// Who we are under TLS; nil for plain HTTP.
  let identity: CurrentIdentity?
  let handler: HTTPHandler
  let refusal: HTTPRefusalRenderer
  let answered: HTTPAccessObserver?
  let inbox: ServerInbox
  let counters: ServerCounters
  let logger: Logger

  /// Our epoll set: libmicrohttpd's own epoll descriptor, the inbox, watched and lingering sockets.
  let poller: Int32
  private(set) var daemon: OpaquePointer?
  private var listener: Int32
  /// Serves the streams whose sockets are taken over; nil when libmicrohttpd serves them.
  let hub: StreamHub?
  private let socket: ListeningSocket
  var deadlines = DeadlineHeap()
  var connections: [UInt64: Connection] = [:]
  var streaming: [UInt64: Connection] = [:]
  /// The logs that streams follow: the ticket of our poke, and how many streams need it.
  var followed: [ObjectIdentifier: (log: EventLog, ticket: UInt64, streams: Int)] = [:]
  /// The connection whose request line came last, and others whose head was interrupted by it.
  var latestHead: Connection?
  /// The connection an answer was handed over for last.
  var latestAnswer: Connection?
  var splitHeads: [UInt64: Connection] = [:]
  /// Connections whose request's body is not complete yet.
  var bodiesAwaited = 0
  /// Connections of each client address, where they are limited.
  var connectionsByAddress: [String: Int] = [:]
  /// Half-closed sockets that are read empty.
  var lingering: [UInt64: Int32] = [:]
  /// The last token given to a connection or a lingering socket; the first two name libmicrohttpd and the inbox.
  var lastToken = ServerLoop.inboxToken
  /// Requests whose head passed and whose answer is not sent yet, endless streams not counted.
  var requestsInFlight = 0
  /// The bytes that end every stream, once streams are to end.
  var closeEvent: [UInt8]?
  /// The end is announced: clients are asked to come back by other connections.
  var announcesClose = false
  /// Until when a stop waits for first requests after the last accept; nil before.
  private var lastRequestsDeadline: UInt64?
  /// When the grace of a stop is over.
  var stopDeadline: UInt64?
  /// The grace is nearly over: no more answers are promised.
  var isFinalGrace = false
  /// Everything is to end now.
  var isStopping = false
  /// libmicrohttpd needs another turn though it does not say so.
  var needsTurn = false
  private var unpolledPasses = 0
  /// Connections that have not sent a request line yet: under TLS, handshakes may be among them.
  var awaitingFirstRequest = 0
  /// Whether libmicrohttpd has called us, or the kernel told us of something, since our last poll.
  var hadActivity = true
  /// The time of this turn, so that one clock reading serves all connections.
  var now = MonotonicClock.now

  /// The configured times in nanoseconds, computed once: a `Duration` costs 128-bit arithmetic every time.
  struct Spans {
    let requestHead: UInt64
    let requestBody: UInt64
    let betweenRequests: UInt64
    let reply: UInt64

    init(_ configuration: HTTPServer.Configuration) {
      requestHead = configuration.requestHeadTime.nanoseconds
      requestBody = configuration.requestBodyTime.nanoseconds
      // An idle client has the inactivity time to begin, and then as long as the first time.
      betweenRequests = configuration.inactivity.nanoseconds + requestHead
      reply = configuration.replyTime.nanoseconds
    }
  }

  static let daemonToken: UInt64 = 0
  static let inboxToken: UInt64 = 1

  init(
    configuration: HTTPServer.Configuration, socket: ListeningSocket, identity: CurrentIdentity?, inbox: ServerInbox,
    counters: ServerCounters, handler: @escaping HTTPHandler, refusal: @escaping HTTPRefusalRenderer,
    answered: HTTPAccessObserver?, logger: Logger
  ) throws(HTTPServerError) {
    self.configuration = configuration
    spans = Spans(configuration)
    inactivitySeconds = UInt32(clamping: max(1, configuration.inactivity.components.seconds))
    connectionLimit = Self.connectionLimit(configuration, descriptors: DescriptorLimit.raise(), logger)
    isLoopbackListener = socket.address.isLoopback
    isUnixListener = socket.address.path != nil
    self.identity = identity
    strictTransport =
      identity == nil ? nil : configuration.strictTransport.map { "max-age=\($0.components.seconds)" }
    self.socket = socket
    self.handler = handler
    self.refusal = refusal
    self.answered = answered
    self.inbox = inbox
    self.counters = counters
    self.logger = logger
    listener = socket.descriptor
    do throws(HTTPServerError) {
      // What is encrypted only the library can write.
      hub = identity == nil ? try Self.makeHub(configuration, counters, inbox, socket.address.description) : nil
    } catch {
      socket.closeAndUnlink()
      throw error
    }
    poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    let object = socket.address.description
    guard poller >= 0 else {
      hub?.stop()
      socket.closeAndUnlink()
      throw HTTPServerError(operation: "epoll_create1", object: object, errno: errno)
    }
    unsafe daemon = startDaemon()
    guard let daemon = unsafe daemon else {
      hub?.stop()
      socket.closeAndUnlink()
      close(poller)
      throw HTTPServerError(operation: "MHD_start_daemon", object: object, reason: "libmicrohttpd refused to start")
    }
    watch(unsafe CMicroHTTPD_epoll_fd(daemon), EPOLLIN.rawValue, token: Self.daemonToken)
    _ = inbox.watch(in: poller, token: Self.inboxToken)
  }

  /// The configured limit, or what the descriptors allow; says so when that is little.
  private static func connectionLimit(
    _ configuration: HTTPServer.Configuration, descriptors: Int, _ logger: Logger
  ) -> Int {
    let reserve = min(Limits.descriptorReserve, descriptors / Limits.smallReserve)
    let possible = max(1, min(Limits.connections, (descriptors - reserve) / max(1, configuration.servers)))
    let limit = configuration.connectionLimit ?? possible
    if possible < configuration.connectionLimit ?? Limits.lowConnectionLimit {
      logger.warning(
        "few descriptors",
        metadata: [
          "limit": "\(descriptors)", "possibleConnections": "\(possible)", "configuredConnections": "\(limit)",
          "hint": "raise the hard limit: ulimit -Hn, LimitNOFILE=, --ulimit nofile=",
        ])
    }
    return limit
  }

  private func startDaemon() -> OpaquePointer? {
    var callbacks = unsafe CMicroHTTPD_Callbacks(
      cls: Unmanaged.passUnretained(self).toOpaque(), request: httpRequest, target: httpTarget,
      completed: httpCompleted, connection: httpConnection, unescape: httpUnescape,
      diagnostic: { unsafe httpLogCallback($0, $1, $2) })
    // In turbo mode 0.9.75 lets go of a closed connection's socket without shutting it down, as the hub needs it, and has
    // a new one in no epoll set until it was found idle: under TLS what a client sends in its handshake would wake nobody.
    let mode = identity == nil ? MHD_USE_TURBO.rawValue : MHD_USE_TLS.rawValue
    let flags =
      MHD_USE_EPOLL.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_ERROR_LOG.rawValue | mode
    // Its limit lies above ours: at its own it leaves clients in the kernel's queue without a word.
    return unsafe CMicroHTTPD_start(
      flags, listener, UInt32(clamping: connectionLimit + Limits.overload),
      inactivitySeconds, Limits.connectionMemory, &callbacks, TLSIdentity.priorities,
      CGnuTLS_certificate_callback(httpCertificate))
  }

  /// Serves until told to stop.
  func run() {
    while true {
      poll()
      now = MonotonicClock.now
      if inbox.hasWork {
        for message in inbox.take() { handle(message) }
        wakeStreams()
      }
      while let due = deadlines.pop(at: now) { handle(due) }
      if isStopping { break }
      needsTurn = false
      unsafe MHD_run(daemon)
      counters.turns.wrappingAdd(1, ordering: .relaxed)
      counters.lastTurn.store(now, ordering: .relaxed)
      // After the turn: what clients had sent before it has been read.
      if isOver { break }
    }
    shutDown()
  }

  // MARK: Waiting

  private func poll() {
    let timeout = timeoutMilliseconds()
    // While libmicrohttpd has more to do it will look at its own sockets anyway.
    if timeout == 0, unpolledPasses < Limits.unpolledPasses {
      unpolledPasses += 1
      return
    }
    unpolledPasses = 0
    let pause = awaitsOnlyHandshakes(timeout) ? idlePause() : timeout
    hadActivity = false
    unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Limits.polledEvents) { events in
      let count = unsafe epoll_wait(poller, events.baseAddress, Int32(events.count), pause)
      if count > 0 { hadActivity = true }
      for index in 0..<Int(max(0, count)) {
        handleEvent(token: unsafe events[index].data.u64, unsafe events[index].events)
      }
    }
  }

  /// 0 to go on at once, -1 to sleep until something happens.
  private func timeoutMilliseconds() -> Int32 {
    // The last answer may have gone out in the turn that has just ended: then nobody else would wake us.
    if inbox.hasWork || needsTurn || isOver { return 0 }
    var wait = UInt64.max
    var library: UInt64 = 0
    if unsafe MHD_get_timeout(daemon, &library) == .YES { wait = library }
    if wait == 0 { return 0 }
    if let earliest = deadlines.earliest {
      let current = MonotonicClock.now
      // Rounded up: waking a moment too early means waking twice.
      wait = min(wait, earliest > current ? (earliest - current + 999_999) / 1_000_000 : 0)
    }
    return wait == .max ? -1 : Int32(clamping: wait)
  }

  /// Whether libmicrohttpd wants turns in which nothing happens.
  ///
  /// 0.9.75 takes every unfinished handshake for ready, whether or not its client has sent anything, and every body whose
  /// head has left no memory to read it into: a single one would keep this thread busy. Real input makes libmicrohttpd's
  /// epoll descriptor ready, and ends any pause.
  private func awaitsOnlyHandshakes(_ timeout: Int32) -> Bool {
    timeout == 0 && (identity != nil && awaitingFirstRequest > 0 || bodiesAwaited > 0) && !hadActivity && !needsTurn
      && !inbox.hasWork
      && !isOver
  }

  /// Milliseconds of a pause that no deadline shortens.
  private func idlePause() -> Int32 {
    guard let earliest = deadlines.earliest else { return configuration.handshakePause }
    let current = MonotonicClock.now
    let left = earliest > current ? (earliest - current + 999_999) / 1_000_000 : 0
    return min(configuration.handshakePause, Int32(clamping: left))
  }

  private func handleEvent(token: UInt64, _ events: UInt32) {
    if let descriptor = lingering[token] {
      drainLingering(token: token, descriptor)
    } else if let connection = connections[token] {
      clientSocketChanged(connection, events)
    }
  }

  /// Adds a descriptor to our epoll set.
  @discardableResult
  func watch(_ descriptor: Int32, _ events: UInt32, token: UInt64) -> Bool {
    var event = unsafe epoll_event(events: events, data: epoll_data_t(u64: token))
    return unsafe epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0
  }

  /// Takes a descriptor out of our epoll set.
  func unwatch(_ descriptor: Int32) {
    epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, nil)
  }

  // MARK: Messages

  private func handle(_ message: ServerMessage) {
    switch message {
    case .reply(let token, let number, let response):
      deliver(response, connection: token, request: number)
    case .onAbandonment(let token, let number, let body):
      setAbandonmentHandler(body, connection: token, request: number)
    case .releasedAddressSlot(let address): releaseAddressSlot(address)
    case .limits(let streams, let requestBody):
      configuration.streamLimit = streams ?? configuration.streamLimit
      configuration.requestBodyLimit = requestBody ?? configuration.requestBodyLimit
    case .announceClose: announcesClose = true
    case .stopAccepting(let done):
      stopAccepting()
      done.raise()
    case .endStreams(let bytes):
      closeEvent = closeEvent ?? bytes
      for connection in streaming.values { resume(connection) }
      hub?.endStreams(closeEvent: bytes)
      expireWaits()
    case .stop(let grace):
      stopAccepting()
      expireWaits()
      let deadline = now + grace.nanoseconds
      stopDeadline = min(stopDeadline ?? deadline, deadline)
      plan(deadline - min(Limits.finalGrace.nanoseconds, grace.nanoseconds / 2), .finalGrace, token: 0)
      plan(deadline, .stop, token: 0)
    }
  }

  // MARK: Stopping

  /// A stop was asked for, and nothing is left that it should wait for.
  private var isOver: Bool {
    stopDeadline != nil && requestsInFlight == 0 && !awaitsRequests
      && (closeEvent == nil || counters.streams.load(ordering: .relaxed) == 0)
  }

  /// A client has connected and not sent its first request yet, is in the handshake before it, or has sent half of a head.
  private var awaitsRequests: Bool {
    guard let lastRequestsDeadline, now < lastRequestsDeadline else { return false }
    return awaitingFirstRequest > 0 || !splitHeads.isEmpty || latestHead?.isMidHead == true
  }

  /// Gives everything back when the thread could not be started.
  func abandon() {
    shutDown()
  }

  private func stopAccepting() {
    guard listener >= 0 else { return }
    // Quiescing alone would leave the socket open and clients waiting in its queue for an answer that never comes.
    unsafe MHD_quiesce_daemon(daemon)
    socket.ignoreNewClients()
    // A client in the queue is connected, and may have sent a request: closing would reset it.
    var last: [Int32] = []
    while last.count < Limits.lastAccepts, case let client = CMicroHTTPD_accept(listener), client >= 0 {
      last.append(client)
    }
    socket.closeAndUnlink()
    listener = -1
    for client in last { _ = unsafe CMicroHTTPD_adopt(daemon, client) }
    let deadline = now + Limits.lastRequests.nanoseconds
    lastRequestsDeadline = deadline
    plan(deadline, .lastRequests, token: 0)
  }

  private func shutDown() {
    isStopping = true
    stopAccepting()
    // Refuse first, release after: a promise dropped here must find the inbox closed.
    for message in inbox.closeDown() {
      switch message {
      case .stopAccepting(let done): done.raise()
      case .onAbandonment(let token, let number, let body):
        setAbandonmentHandler(body, connection: token, request: number)
      default: break
      }
    }
    hub?.stop()
    for connection in connections.values { resume(connection) }
    // Stopping with suspended connections aborts the process; one turn resumes, and ends, all of them.
    unsafe MHD_run(daemon)
    unsafe MHD_stop_daemon(daemon)
    unsafe daemon = nil
    for token in Array(lingering.keys) { endLingering(token: token) }
    for entry in followed.values { entry.log.unregister(entry.ticket) }
    followed = [:]
    close(poller)
    logger.info("HTTP server stopped")
  }
}
