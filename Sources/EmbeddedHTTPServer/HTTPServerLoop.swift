internal import DequeModule
internal import EventLoop
internal import EventStreams
internal import Locks
internal import Logging
internal import Synchronization

/// The server's thread: it waits, and passes events, messages, timers and libmicrohttpd's calls to the server's parts.
///
/// libmicrohttpd runs in external mode on this thread. In this mode a suspend or resume has no race and, in 0.9.75, no
/// system call; outside of it each resume writes to a descriptor.
@safe final class HTTPServerLoop {

  let context: HTTPServerContext
  /// For libmicrohttpd's calls.
  let requests: RequestProcessor
  let streams: HTTPCallbackStreams
  let errors: ErrorResponseMatcher

  private let connections: HTTPConnectionTable
  private let direct: DirectResponder
  private let deferred: DeferredResponses
  private let halfClosed: HalfClosedHTTPClients
  private let lingering: LingeringHTTPSockets
  private let memory: ConnectionMemory
  /// Serves the streams whose sockets are taken over; nil if libmicrohttpd serves them.
  private let takeover: HTTPStreamTakeover?
  /// The listening socket until the server stops accepting.
  private var socket: ListeningSocket?
  private var daemon: MHDDaemon?
  private var unpolledPasses = 0

  /// Makes the loop and its daemon; the socket is closed if that fails.
  init(
    configuration: HTTPServerConfiguration, socket: ListeningSocket, identity: CurrentTLSIdentity?,
    inbox: HTTPServerInbox,
    counters: HTTPServerCounters, handler: @escaping HTTPHandler, refusal: @escaping HTTPRefusalRenderer,
    answered: HTTPAccessObserver?, logger: Logger
  ) throws(HTTPServerError) {
    let object = socket.address.description
    do throws(HTTPServerError) {
      context = HTTPServerContext(
        configuration: configuration, address: socket.address, identity: identity,
        poller: try Self.makePoller(inbox, object), inbox: inbox, counters: counters, answered: answered,
        logger: logger)
      takeover = try HTTPStreamTakeover(context, object: object)
    } catch {
      socket.closeAndUnlink()
      throw error
    }
    connections = HTTPConnectionTable(context)
    direct = DirectResponder(context, refusal: refusal)
    errors = ErrorResponseMatcher(context, direct, connections)
    streams = HTTPCallbackStreams(context)
    deferred = DeferredResponses(context, connections, direct)
    memory = ConnectionMemory(context, connections, direct, deferred, takeover)
    halfClosed = HalfClosedHTTPClients(context, streams, memory)
    lingering = LingeringHTTPSockets(context)
    let responses = ResponseSender(
      context, direct: direct, errors: errors, streams: streams, takeover: takeover, memory: memory)
    requests = RequestProcessor(
      context, connections: connections, responses: responses, direct: direct, deferred: deferred, streams: streams,
      halfClosed: halfClosed, errors: errors, memory: memory, handler: handler)
    self.socket = socket
    do throws(HTTPServerError) {
      guard let daemon = MHDDaemon(loop: self, listener: socket.descriptor) else {
        throw HTTPServerError(operation: "MHD_start_daemon", object: object, reason: "libmicrohttpd refused to start")
      }
      self.daemon = daemon
      try Self.watch(daemon, context.poller, object)
    } catch {
      daemon?.stop()
      takeover?.hub.stop()
      socket.closeAndUnlink()
      throw error
    }
  }

  private static func makePoller(_ inbox: HTTPServerInbox, _ object: String) throws(HTTPServerError) -> Poller {
    do throws(EventLoopError) {
      let poller = try Poller(capacity: Limits.polledEvents)
      try inbox.attach(to: poller, token: HTTPServerContext.inboxToken)
      return poller
    } catch {
      throw HTTPServerError(operation: error.operation, object: object, errno: error.errno)
    }
  }

  private static func watch(_ daemon: MHDDaemon, _ poller: Poller, _ object: String) throws(HTTPServerError) {
    do throws(EventLoopError) {
      try poller.add(daemon.epollDescriptor, .readable, token: HTTPServerContext.daemonToken)
    } catch {
      throw HTTPServerError(operation: error.operation, object: object, errno: error.errno)
    }
  }

  /// How streams reach their clients here.
  var streamMode: HTTPStreamMode { takeover == nil ? .callback : .takeover }

  /// Serves until a stop.
  func run() {
    while true {
      poll()
      context.now = .now
      if context.inbox.hasWork {
        for message in context.inbox.take().messages { handle(message) }
        streams.wake()
      }
      while let timer = context.timers.popExpired(context.now) { handle(timer) }
      if context.stop.isStopping { break }
      context.needsTurn = false
      daemon?.run()
      context.counters.turns.wrappingAdd(1, ordering: .relaxed)
      context.counters.lastTurn.store(UInt64(clamping: context.now.nanoseconds), ordering: .relaxed)
      // After the turn: what clients had sent before it has been read.
      if isOver { break }
    }
    shutDown()
  }

  // MARK: - Waiting

  private func poll() {
    let timeout = timeoutNanoseconds()
    // While libmicrohttpd has more to do, it looks at its own sockets in any case.
    if timeout == 0, unpolledPasses < Limits.unpolledPasses {
      unpolledPasses += 1
      return
    }
    unpolledPasses = 0
    let pause = awaitsOnlyHandshakes(timeout) ? idlePause() : timeout
    context.hadActivity = false
    let count = context.poller.wait(atMost: pause.map(Duration.nanoseconds))
    if count > 0 { context.hadActivity = true }
    for index in 0..<count {
      let event = context.poller[index]
      if event.token > HTTPServerContext.inboxToken, !lingering.drain(event.token),
        let connection = connections[event.token]
      {
        halfClosed.clientSocketChanged(connection, event.events)
      }
    }
  }

  /// The time until the next turn; nil to wait for an event.
  private func timeoutNanoseconds() -> Int64? {
    // The last response may have been sent in the turn that has just ended: then no event follows.
    if context.inbox.hasWork || context.needsTurn || isOver { return 0 }
    let library = daemon?.timeoutMilliseconds
    if library == 0 { return 0 }
    let timeout = library.map { Int64(clamping: $0).multipliedReportingOverflow(by: 1_000_000) }
    let limit = timeout.map { $0.overflow ? .max : $0.partialValue }
    guard let earliest = context.timers.earliest else { return limit }
    return min(limit ?? .max, max(0, earliest.nanoseconds - MonotonicInstant.now.nanoseconds))
  }

  /// Whether libmicrohttpd requests turns in which nothing happens.
  ///
  /// 0.9.75 takes every unfinished handshake for ready, whether or not its client has sent anything, and every body
  /// whose head has left no memory to read it into: a single one would keep this thread busy. Input makes
  /// libmicrohttpd's epoll descriptor ready and ends a pause.
  private func awaitsOnlyHandshakes(_ timeout: Int64?) -> Bool {
    timeout == 0
      && (context.identity != nil && context.phases.awaitingFirstRequest > 0 || context.phases.bodiesAwaited > 0)
      && !context.hadActivity
      && !context.needsTurn && !context.inbox.hasWork && !isOver
  }

  /// Nanoseconds of a pause, which ends at the next timer.
  private func idlePause() -> Int64 {
    let pause = Int64(context.configuration.handshakePause) * 1_000_000
    guard let earliest = context.timers.earliest else { return pause }
    return min(pause, max(0, earliest.nanoseconds - MonotonicInstant.now.nanoseconds))
  }

  // MARK: - Messages and timers

  private func handle(_ message: HTTPServerMessage) {
    switch message {
    case .reply(let token, let number, let response):
      deferred.deliver(response, connection: token, request: number)
    case .wait(let token, let number, let wait): requests.wait(wait, connection: connections[token], request: number)
    case .onAbandonment(let token, let number, let body):
      deferred.setAbandonmentHandler(body, connection: token, request: number)
    case .piece(let token, let piece): streams.add(piece, to: token)
    case .releasedAddressSlot(let address): connections.releaseAddressSlot(address)
    case .limits(let streams, let requestBody): context.setLimits(streams: streams, requestBody: requestBody)
    case .announceClose: context.stop.announcesClose = true
    case .stopAccepting(let done):
      stopAccepting()
      done.open()
    case .endStreams(let bytes):
      context.stop.closeEvent = context.stop.closeEvent ?? bytes
      streams.resumeAll()
      takeover?.hub.endStreams(closeEvent: bytes)
      deferred.expireWaits()
    case .stop(let grace):
      stopAccepting()
      deferred.expireWaits()
      beginStop(grace: grace.nanoseconds)
    }
  }

  private func handle(_ timer: HTTPServerTimer) {
    switch timer {
    case .request(let token):
      guard let connection = connections[token], connection.requestTimerExpired() else { return }
      context.counters.expired.increment()
      // A connection without a request line has requested nothing: browsers keep such connections in reserve.
      if connection.phase.hasRequestLine {
        direct.refuseDirectly(connection, .tooSlow)
      } else {
        connection.client.shutDown()
      }
    case .reply(let token): deferred.expire(token)
    case .halfClosed(let token): if let connection = connections[token] { halfClosed.sendInterimResponse(connection) }
    case .heartbeat(let token): streams.checkHeartbeat(token)
    case .cut(let token): connections[token]?.client.shutDown()
    case .linger(let token): lingering.end(token)
    case .memory: memory.audit()
    // It only ends the wait.
    case .lastRequests: break
    case .finalGrace:
      context.stop.isFinalGrace = true
      deferred.expireWaitsBeforeStop()
    case .stop: context.stop.isStopping = true
    }
  }

  // MARK: - Connections

  /// libmicrohttpd has accepted a connection.
  func accepted(_ client: MHDConnection) -> HTTPConnection {
    context.hadActivity = true
    let connection = HTTPConnection(token: connections.nextToken(), client: client, context: context)
    client.prepareHandshake(context.identity?.identity)
    guard memory.admit(connection) else {
      direct.rejectConnection(connection)
      return connection
    }
    let span = connection.admission.excess == .address ? Limits.linger.nanoseconds : context.spans.requestHead
    connection.setRequestDeadline(context.now.advanced(byNanoseconds: span))
    return connection
  }

  /// libmicrohttpd is about to close a connection.
  func closed(_ connection: HTTPConnection) {
    context.hadActivity = true
    connections.remove(connection)
    memory.closed(connection)
    errors.headEnded(connection)
    connection.cancelTimers()
    connection.unwatch()
    connection.enter(.closed)
    // The hub counts the connection from its takeover on.
    if connection.isTakenOver { return }
    context.counters.connections.decrement()
    connections.releaseAddressSlot(connection.admission.address)
    lingering.add(connection)
  }

  // MARK: - Stopping

  /// A stop was requested, and nothing is left that it waits for.
  private var isOver: Bool {
    context.stop.deadline != nil && context.phases.requestsInFlight == 0 && !awaitsRequests
      && (context.stop.closeEvent == nil || context.counters.streams.open.load(ordering: .relaxed) == 0)
  }

  /// A client has connected and not sent its first request yet, is in its handshake, or has sent part of a head.
  private var awaitsRequests: Bool {
    guard let deadline = context.stop.lastRequestsDeadline, context.now < deadline else { return false }
    return context.phases.awaitingFirstRequest > 0 || errors.hasIncompleteHead
  }

  private func beginStop(grace: Int64) {
    let deadline = context.now.advanced(byNanoseconds: grace)
    let earliest = min(context.stop.deadline ?? deadline, deadline)
    context.stop.deadline = earliest
    let finalGrace = min(Limits.finalGrace.nanoseconds, grace / 2)
    context.timers.set(.finalGrace, at: earliest.advanced(byNanoseconds: -finalGrace))
    context.timers.set(.stop, at: earliest)
  }

  private func stopAccepting() {
    guard let socket else { return }
    self.socket = nil
    daemon?.stopAccepting(socket)
    let deadline = context.now.advanced(by: context.configuration.lastRequestTime)
    context.stop.lastRequestsDeadline = deadline
    context.timers.set(.lastRequests, at: deadline)
  }

  /// Releases everything if the thread could not be started.
  func abandon() { shutDown() }

  private func shutDown() {
    context.stop.isStopping = true
    stopAccepting()
    // Closed first: a promise that is dropped below must not be posted.
    context.inbox.close()
    for message in context.inbox.take().messages {
      switch message {
      case .stopAccepting(let done): done.open()
      case .onAbandonment(let token, let number, let body):
        deferred.setAbandonmentHandler(body, connection: token, request: number)
      default: break
      }
    }
    takeover?.hub.stop()
    for connection in connections.all { connection.resume() }
    // libmicrohttpd aborts the process if it is stopped with suspended connections; one turn resumes and ends them.
    daemon?.run()
    daemon?.stop()
    daemon = nil
    lingering.endAll()
    streams.unfollowAll()
    context.logger.info("HTTP server stopped")
  }
}
