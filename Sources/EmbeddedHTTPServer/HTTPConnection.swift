internal import EventStreams
internal import EventLoop

/// One client connection, from accept to close.
///
/// Confined to the server's thread.
@safe final class HTTPConnection {
  /// How far the current request is.
  enum Phase {
    /// Between requests: no complete request line.
    case idle
    /// The request line is complete, the head is not.
    case head
    /// The head was accepted; the body is read.
    case body
    /// The response is promised; the connection is suspended.
    case deferred(DeferredHTTPResponse)
    /// The response is queued.
    case answered
    /// The response is a stream by callback.
    case streaming(HTTPCallbackStream)
  }

  /// Whether the connection is within the limits.
  enum Admission {
    case admitted
    /// As many connections as allowed were open when it was accepted, and none of its requests was answered since.
    case exceedsConnectionLimit
    /// Too many connections of its client's address are open.
    case exceedsAddressLimit
  }

  /// Why no further request is answered.
  enum Ending {
    /// A response was queued before everything was read: the socket lingers after the close.
    case refused
    /// The response was written directly (ADR 14); the socket lingers after the close.
    case refusedDirectly
    /// Rejected before its request for lack of capacity.
    case turnedAway
    /// The client has closed the connection, or got its response directly.
    case gone
    /// The socket belongs to the stream hub now, and libmicrohttpd closes its own copy.
    case takenOver
  }

  /// Identifies the connection in messages and timers, also after its end; never reused.
  let token: UInt64
  /// libmicrohttpd's connection, valid until ``HTTPCallbacks`` report its close.
  let handle: OpaquePointer
  /// The socket, valid as long as the handle.
  let descriptor: Int32
  /// The loop of the connection.
  ///
  /// It is retained, because an unowned reference is counted at each use. The cycle ends when ``ConnectionTable``
  /// removes the connection.
  let loop: HTTPServerLoop

  var phase = Phase.idle
  var admission = Admission.admitted
  var ending: Ending?
  /// The number of the current request, so that a late response does not answer the next request.
  var requestNumber: UInt64 = 0
  /// A request line was received on this connection.
  var hasReceivedRequest = false
  /// The target as in the request line.
  var target = ""
  var request: HTTPRequest?
  /// The last accepted head: clients mostly repeat the same bytes on a connection.
  var cachedHead: CachedRequestHead?
  /// The current request has that head and its cached response was valid; ``request`` is not set then.
  var reusesCachedHead = false
  /// The current request's head announced a body that is not complete; set by ``ConnectionTable``.
  var awaitsBody = false
  /// When the current request's head was complete; read only if responses are observed.
  var headTime = MonotonicInstant(nanoseconds: 0)
  /// A stop waits for the current request; set by ``ConnectionTable``.
  var isInFlight = false
  /// The client has closed its sending side while its response is due, and ``ServerTimer/halfClosed(_:)`` is set.
  var isHalfClosed = false
  /// When the present exchange, or the time without one, began.
  var since: MonotonicInstant
  /// What the connection occupies; set by ``ConnectionMemory``.
  var charge = ConnectionCharge()
  /// The connection ends to make room, and is not counted any more; set by ``HTTPConnectionTable``.
  var isDisplaced = false
  /// Bytes of responses since ``ConnectionMemory`` last examined what the client has not received of them.
  var uncheckedOutput = 0
  /// The kernel buffers as little of the client's bytes as it can.
  var isInputLimited = false
  /// libmicrohttpd does not handle the connection until it is resumed.
  var isSuspended = false
  /// The socket is in the loop's own poller.
  var isWatched = false
  /// libmicrohttpd handles the connection in every turn; see ``keepPolled()``.
  var isPolledByLibrary = false
  /// When the request must be complete; nil while the server must act.
  private(set) var requestDeadline: MonotonicInstant?
  /// A timer is set that checks ``requestDeadline``.
  private var hasRequestTimer = false
  /// The address that the connection is counted under, where connections are limited by address.
  var slotAddress: String?
  /// The address and port of the client, made on first use.
  var cachedPeer: String?
  /// The certificate of the handshake, which borrows it.
  var identity: ServerTLSIdentity?

  init(token: UInt64, handle: OpaquePointer, descriptor: Int32, loop: HTTPServerLoop) {
    self.token = token
    unsafe self.handle = handle
    self.descriptor = descriptor
    self.loop = loop
    since = loop.context.now
  }

  // MARK: - States

  /// The response that was promised and not sent yet.
  var deferral: DeferredHTTPResponse? {
    if case .deferred(let deferral) = phase { return deferral }
    return nil
  }

  /// The open stream by callback.
  var stream: HTTPCallbackStream? {
    if case .streaming(let stream) = phase { return stream }
    return nil
  }

  /// A response was promised and has not been given.
  var awaitsReply: Bool { deferral.map { $0.reply == nil } ?? false }

  /// The current request's head is complete.
  var hasHead: Bool {
    switch phase {
    case .idle, .head: false
    default: true
    }
  }

  /// A response is queued, and not sent completely.
  var isAnswered: Bool { if case .answered = phase { true } else { false } }

  /// The current request's line is complete.
  var hasRequestLine: Bool { if case .idle = phase { false } else { true } }

  /// The request line is complete and the rest of the head is not.
  var isMidHead: Bool { if case .head = phase { !isAborted } else { false } }

  /// The request was refused, or the connection rejected, past libmicrohttpd: no further response is possible.
  var isAborted: Bool {
    switch ending {
    case .refusedDirectly, .turnedAway: true
    default: false
    }
  }

  /// The client is not there any more, or needs nothing more.
  var isDisconnected: Bool { ending == .gone }

  /// The socket is read for a while after the close.
  var lingers: Bool { ending == .refused || ending == .refusedDirectly }

  // MARK: - Time for a request

  /// Sets when the current request must be complete; nil while the server must act.
  func setRequestDeadline(_ deadline: MonotonicInstant?) {
    requestDeadline = deadline
    // One timer a connection, however many requests: when it expires, it is set for the current deadline.
    guard let deadline, !hasRequestTimer else { return }
    hasRequestTimer = true
    loop.context.timers.set(.request(token), at: deadline)
  }

  /// The timer of ``requestDeadline`` has expired.
  ///
  /// - Returns: whether the request is too late.
  func requestTimerExpired(_ now: MonotonicInstant) -> Bool {
    hasRequestTimer = false
    guard let deadline = requestDeadline else { return false }
    guard deadline <= now else {
      setRequestDeadline(deadline)
      return false
    }
    requestDeadline = nil
    return true
  }

  /// Cancels the connection's timers, when it is closed.
  func cancelTimers() {
    if hasRequestTimer { loop.context.timers.cancel(.request(token)) }
    if ending == .refusedDirectly { loop.context.timers.cancel(.cut(token)) }
  }
}
