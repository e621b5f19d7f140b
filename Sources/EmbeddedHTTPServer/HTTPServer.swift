internal import EventLoop
internal import Glibc
internal import Locks
public import Logging
internal import Synchronization

/// An HTTP/1.1 server on one address, with one thread of its own.
///
/// The handler runs on that thread and must not block. Nothing here may be called from the handler but what says so.
public final class HTTPServer: Sendable {
  private struct State {
    /// The socket, once bound and until the thread has it.
    var bound: ListeningSocket?
    /// The address that was bound and the way to the thread, once started.
    var started: (address: ListenAddress, inbox: ServerInbox)?
    /// The thread, once started.
    var thread: LoopThread?
    var isStopped = false
  }

  private let configuration: Configuration
  private let handler: HTTPHandler
  private let refusal: HTTPRefusalRenderer
  private let answered: HTTPAccessObserver?
  private let logger: Logger
  private let counts = ServerCounters()
  private let identity: CurrentIdentity?
  private let state = Locked(State())
  /// Held while the thread is waited for, so that a second caller of `stop` waits too and others do not.
  private let joining = Locked(())

  /// A server that is not started yet.
  ///
  /// - Parameters:
  ///   - configuration: The address and the limits.
  ///   - handler: Answers requests.
  ///   - refusal: Renders what the server answers by itself; plain text by default.
  ///   - answered: Hears of every answer.
  ///   - logger: Told when the server starts and stops.
  public init(
    configuration: Configuration, handler: @escaping HTTPHandler,
    refusal: @escaping HTTPRefusalRenderer = RequestRefusal.plainText,
    answered: HTTPAccessObserver? = nil,
    logger: Logger = Logger(label: "http")
  ) {
    self.configuration = configuration
    identity = configuration.identity.map(CurrentIdentity.init)
    self.handler = handler
    self.refusal = refusal
    self.answered = answered
    self.logger = logger
  }

  /// Binds the address without serving yet; clients wait in the kernel's queue.
  ///
  /// For a process that gives up the right to a port below 1024 before it starts a thread; else ``start()`` does it.
  public func bind() throws(HTTPServerError) {
    try state.withLock { state throws(HTTPServerError) in
      guard state.bound == nil, state.started == nil else { throw startedBefore }
      state.bound = try makeSocket()
    }
  }

  private func makeSocket() throws(HTTPServerError) -> ListeningSocket {
    guard let descriptor = configuration.inherited else {
      return try ListeningSocket(configuration.address, mode: configuration.socketMode)
    }
    return try ListeningSocket(inherited: descriptor)
  }

  private func makeInbox(_ socket: ListeningSocket) throws(HTTPServerError) -> ServerInbox {
    do throws(EventLoopError) {
      return try ServerInbox()
    } catch {
      socket.closeAndUnlink()
      throw HTTPServerError(operation: error.operation, object: socket.address.description, errno: error.errno)
    }
  }

  private var startedBefore: HTTPServerError {
    HTTPServerError(
      operation: "start", object: configuration.address.description, reason: "the server was started before")
  }

  /// Begins to serve, after binding the address unless that is done; a server is started once.
  ///
  /// Raises the process's soft descriptor limit to the hard one (getrlimit(2)).
  public func start() throws(HTTPServerError) {
    try state.withLock { state throws(HTTPServerError) in
      guard state.started == nil else { throw startedBefore }
      let socket = if let bound = state.bound { bound } else { try makeSocket() }
      // Whatever happens now, the socket is the loop's, or closed.
      state.bound = nil
      let inbox = try makeInbox(socket)
      // The loop belongs to its thread, or to this function if there is none.
      nonisolated(unsafe) let loop = try ServerLoop(
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

  /// Whether the server speaks TLS.
  public var isSecure: Bool { identity != nil }

  /// Who the server is from now on under TLS; connections that are open go on as they are.
  ///
  /// A server that was started for plain HTTP stays so.
  public func replaceIdentity(_ new: TLSIdentity) { identity?.replace(new) }

  /// The address with the port that was bound; the configured one before that.
  public var boundAddress: ListenAddress {
    state.withLock { $0.started?.address ?? $0.bound?.address } ?? configuration.address
  }

  /// Whether the server was started and not stopped.
  public var isServing: Bool {
    state.withLock { $0.started != nil && !$0.isStopped }
  }

  /// What the server has done so far.
  public var counters: Counters { counts.snapshot }

  /// Turns of the server's loop; it grows with every event and stands still in silence.
  ///
  /// To tell a silent loop from a stuck one, `wake()` and look whether this grows. A handler needs no such test: that it
  /// runs is the proof.
  public var loopTurns: UInt64 { counts.turns.load(ordering: .relaxed) }

  /// Monotonic nanoseconds (clock_gettime(2)) of the loop's last turn, 0 before the first.
  public var lastProgress: UInt64 { counts.lastTurn.load(ordering: .relaxed) }

  /// Makes the loop take a turn soon; from any thread.
  public func wake() {
    inbox?.wake()
  }

  /// Changes how many event streams there may be, and how large a request's body.
  ///
  /// Nothing that is under way is cut; nil leaves the number as it is.
  public func limit(streams: Int? = nil, requestBody: Int? = nil) {
    inbox?.post(.limits(streams: streams, requestBody: requestBody))
  }

  /// Asks clients to come back by other connections, with every answer from now on (RFC 9112 §9.6): to be called some time
  /// before ``stopAccepting()``, so that no client sends its next request on a connection that ends.
  public func announceClose() { inbox?.post(.announceClose) }

  /// Closes the listening socket, so that new clients are refused at once; open connections are served on.
  ///
  /// Waits until that is done, except when called on the server's own thread.
  public func stopAccepting() {
    let done = Latch()
    guard let inbox, inbox.post(.stopAccepting(done: done)) == .accepted, !isOwnThread else { return }
    done.wait()
  }

  /// Ends all streams: each sends what is pending, then `closeEvent`, then its end.
  ///
  /// New ones are answered 503 from now on. Does not wait; `stop` does.
  public func endStreams(closeEvent: [UInt8] = []) {
    inbox?.post(.endStreams(closeEvent: closeEvent))
  }

  /// Stops the server and waits for its thread.
  ///
  /// Requests that are being answered, streams with an end of their own and those that were told to end have `grace` to
  /// come to it; other streams are cut. Who then still waits for a promised answer is told 503 shortly before the grace
  /// ends, if there is one. Blocks for `grace` at most. Not to be called on the server's own thread.
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

  private var inbox: ServerInbox? {
    state.withLock { $0.started?.inbox }
  }

  /// Closes a socket that was bound and never served.
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
