internal import EventLoop
internal import Glibc
internal import Locks
public import Logging
internal import Synchronization

/// An HTTP/1.1 server on one address, with its own thread.
///
/// The handler runs on that thread and must not block. The handler may call only those members that allow it
/// explicitly.
public final class HTTPServer: Sendable {
  private struct State {
    /// The bound socket, until the thread owns it.
    var bound: ListeningSocket?
    /// The bound address and the thread's inbox, once started.
    var started: (address: ListenAddress, inbox: HTTPServerInbox)?
    /// The thread, once started.
    var thread: LoopThread?
    var isStopped = false
  }

  private let configuration: HTTPServerConfiguration
  private let handler: HTTPHandler
  private let refusal: HTTPRefusalRenderer
  private let answered: HTTPAccessObserver?
  private let logger: Logger
  private let counts = HTTPServerCounters()
  private let identity: CurrentTLSIdentity?
  private let state = Locked(State())
  /// Held while `stop` waits for the thread: a second caller of `stop` then waits, and other methods do not.
  private let joining = Locked(())

  /// Makes a server that is not started yet.
  ///
  /// - Parameters:
  ///   - configuration: The address and the limits.
  ///   - handler: Answers requests.
  ///   - refusal: Renders the responses that the server gives itself; plain text by default.
  ///   - answered: Receives every request and its response.
  ///   - logger: Logs when the server starts and stops.
  public init(
    configuration: HTTPServerConfiguration, handler: @escaping HTTPHandler,
    refusal: @escaping HTTPRefusalRenderer = RequestRefusal.plainText,
    answered: HTTPAccessObserver? = nil,
    logger: Logger = Logger(label: "http")
  ) {
    self.configuration = configuration
    identity = configuration.identity.map(CurrentTLSIdentity.init)
    self.handler = handler
    self.refusal = refusal
    self.answered = answered
    self.logger = logger
  }

  /// Binds the address without serving yet; clients wait in the kernel's accept queue.
  ///
  /// Call it in a process that drops the privilege to bind a port below 1024 before it starts a thread. Without this
  /// call, ``start()`` binds the address.
  public func bind() throws(HTTPServerError) {
    try state.withLock { state throws(HTTPServerError) in
      guard state.bound == nil, state.started == nil else { throw startedBefore }
      state.bound = try makeSocket()
    }
  }

  private func makeSocket() throws(HTTPServerError) -> ListeningSocket {
    guard let descriptor = configuration.inherited else {
      return try ListeningSocket(
        configuration.address, mode: configuration.socketMode, mayBeAbsent: configuration.addressMayBeAbsent)
    }
    return try ListeningSocket(inherited: descriptor)
  }

  private func makeInbox(_ socket: ListeningSocket) throws(HTTPServerError) -> HTTPServerInbox {
    do throws(EventLoopError) {
      return try HTTPServerInbox()
    } catch {
      socket.closeAndUnlink()
      throw HTTPServerError(operation: error.operation, object: socket.address.description, errno: error.errno)
    }
  }

  private var startedBefore: HTTPServerError {
    HTTPServerError(
      operation: "start", object: configuration.address.description, reason: "the server was started before")
  }

  /// Starts to serve, after binding the address if it is not bound yet; a server can be started once.
  ///
  /// Raises the process's soft descriptor limit to the hard one (getrlimit(2)).
  public func start() throws(HTTPServerError) {
    try state.withLock { state throws(HTTPServerError) in
      guard state.started == nil else { throw startedBefore }
      let socket = if let bound = state.bound { bound } else { try makeSocket() }
      // From here on the loop owns the socket, or the socket is closed.
      state.bound = nil
      let inbox = try makeInbox(socket)
      // The loop belongs to its thread, or to this function if the thread cannot be started.
      nonisolated(unsafe) let loop = try HTTPServerLoop(
        configuration: configuration, socket: socket, identity: identity, inbox: inbox, counters: counts,
        handler: handler, refusal: refusal, answered: answered, logger: logger)
      let mode = unsafe loop.streamMode
      do throws(EventLoopError) {
        state.thread = try LoopThread("http") { unsafe loop.run() }
      } catch {
        unsafe loop.abandon()
        throw HTTPServerError(operation: error.operation, object: socket.address.description, errno: error.errno)
      }
      state.started = (socket.address, inbox)
      logger.info("HTTP server listening", metadata: ["address": "\(socket.address)", "streams": "\(mode)"])
    }
  }

  /// Whether the server uses TLS.
  public var isSecure: Bool { identity != nil }

  /// Replaces the identity under TLS for new connections; open connections are not affected.
  ///
  /// A server that was started for plain HTTP ignores it.
  public func replaceIdentity(_ new: ServerTLSIdentity) { identity?.replace(new) }

  /// The address with the bound port; the configured address before the bind.
  public var boundAddress: ListenAddress {
    state.withLock { $0.started?.address ?? $0.bound?.address } ?? configuration.address
  }

  /// Whether the server was started and is not stopped.
  public var isServing: Bool {
    state.withLock { $0.started != nil && !$0.isStopped }
  }

  /// The server's counters.
  public var counters: Counters { Counters(counts) }

  /// The number of iterations of the server's loop; it grows with every event and is constant without events.
  ///
  /// To distinguish an idle loop from a blocked one, call `wake()` and test whether this number grows. A handler needs
  /// no such test, because it runs on the loop.
  public var loopTurns: UInt64 { counts.turns.load(ordering: .relaxed) }

  /// The time of the loop's last iteration, in nanoseconds of CLOCK_MONOTONIC; 0 before the first.
  public var lastProgress: UInt64 { counts.lastTurn.load(ordering: .relaxed) }

  /// Wakes the loop, which then runs one iteration; can be called on any thread.
  public func wake() {
    inbox?.wake()
  }

  /// Changes the maximum number of event streams and the maximum size of a request body.
  ///
  /// Open streams and requests in progress are not affected; nil leaves a limit unchanged.
  public func limit(streams: Int? = nil, requestBody: Int? = nil) {
    inbox?.post(.limits(streams: streams, requestBody: requestBody))
  }

  /// Announces in every response from now on that the connection closes (RFC 9112 §9.6).
  ///
  /// Call it some time before ``stopAccepting()``, so that no client sends its next request on a connection that ends.
  public func announceClose() { inbox?.post(.announceClose) }

  /// Closes the listening socket, so that new clients are refused immediately; open connections are still served.
  ///
  /// Waits until that is done, except when called on the server's own thread.
  public func stopAccepting() {
    let done = Latch()
    guard let inbox, inbox.post(.stopAccepting(done: done)) == .accepted, !isOwnThread else { return }
    done.wait()
  }

  /// Ends all streams: each sends its pending entries and `closeEvent`, and is then closed.
  ///
  /// New streams are refused with 503 from now on. This call does not wait; `stop` does.
  public func endStreams(closeEvent: [UInt8] = []) {
    inbox?.post(.endStreams(closeEvent: closeEvent))
  }

  /// Stops the server and waits for its thread.
  ///
  /// Requests in progress, streams with a last entry, and streams after ``endStreams(closeEvent:)`` have `grace` to
  /// complete. Other streams are closed immediately. Requests whose ``HTTPPromise`` is not fulfilled get 503 shortly
  /// before the end of `grace`, if it is not zero. Blocks for `grace` at most; must not be called on the server's own
  /// thread.
  public func stop(grace: Duration = .zero) {
    inbox?.post(.stop(grace: grace))
    state.withLock { Self.release(&$0) }
    joining.withLock { _ in
      precondition(!isOwnThread, "a server cannot wait for its own thread")
      guard let thread = state.withLock({ $0.isStopped ? nil : $0.thread }) else { return }
      thread.join()
      state.withLock { $0.isStopped = true }
    }
  }

  private var isOwnThread: Bool { state.withLock { $0.thread?.isCurrent ?? false } }

  private var inbox: HTTPServerInbox? {
    state.withLock { $0.started?.inbox }
  }

  /// Closes a socket that was bound but not passed to the thread.
  private static func release(_ state: inout State) {
    state.bound?.closeAndUnlink()
    state.bound = nil
  }

  deinit {
    state.withLock { state in
      Self.release(&state)
      guard let thread = state.thread, !state.isStopped else { return }
      state.started?.inbox.post(.stop(grace: .zero))
      // If the last reference is released on the server's own thread, this detaches the thread.
      thread.join()
    }
  }
}
