internal import EventLoop
internal import EventStreams

/// One client connection, from accept to close.
///
/// Confined to the server's thread.
final class HTTPConnection {
  /// Who waits for the client's bytes.
  private enum Handling {
    /// libmicrohttpd.
    case library
    /// The loop's own poller, if it had room for the socket; libmicrohttpd waits for ``resume()``.
    case suspended(isWatched: Bool, isInputLimited: Bool)
    /// Both, until the request is over.
    case resumed
  }

  /// The time for a request; one timer per connection, however many requests.
  private enum RequestTimer {
    case unset
    /// When the request must be complete, which may be after the timer; nil while the server must act.
    case set(deadline: MonotonicInstant?)
  }

  /// Identifies the connection in messages and timers, also after its end; never reused.
  let token: UInt64
  /// The client's side of the connection, valid until libmicrohttpd reports its close.
  let client: MHDConnection
  private(set) var phase = HTTPConnectionPhase.accepted
  var current = CurrentRequest()
  /// Set by ``HTTPConnectionTable``.
  var admission = HTTPConnectionAdmission()
  /// What the connection occupies, by ``ConnectionMemory``; nil once it ends to make room and is not counted any more.
  var charge: ConnectionCharge?
  private let context: HTTPServerContext
  private var ending: HTTPConnectionEnding?
  private var handling = Handling.library
  private var requestTimer = RequestTimer.unset
  /// libmicrohttpd handles the connection in every turn; see ``keepPolled()``.
  private var isPolledByLibrary = false
  /// The certificate of the handshake, which borrows it.
  private var identity: ServerTLSIdentity?
  /// The address and port of the client; its user for a Unix-domain socket.
  private(set) lazy var peer =
    context.isUnixListener
    ? "unix:\(client.user)"
    : client.address.map { ListenAddress(host: $0.host, port: $0.port).description } ?? "unknown"

  init(token: UInt64, client: MHDConnection, context: HTTPServerContext) {
    self.token = token
    self.client = client
    self.context = context
    charge = ConnectionCharge(since: context.now)
    context.phases.add(1, in: phase)
  }

  /// The certificate and key for the handshake, which the connection keeps for it.
  func identityForHandshake() -> ServerTLSIdentity? {
    identity = context.identity?.identity
    return identity
  }

  // MARK: - States

  /// Begins a phase; the only place where phases change.
  func enter(_ next: HTTPConnectionPhase) {
    context.phases.add(-1, in: phase)
    phase = next
    context.phases.add(1, in: next)
  }

  /// No further request is answered.
  func end(_ reason: HTTPConnectionEnding) { ending = reason }

  var isEnding: Bool { ending != nil }

  /// The request line is complete and the rest of the head is not.
  var isMidHead: Bool { if case .head = phase { !isAborted } else { false } }

  /// The request was refused, or the connection rejected, past libmicrohttpd: no further response is possible.
  var isAborted: Bool { ending == .refusedDirectly || ending == .turnedAway }

  /// The client is not there any more, or needs nothing more.
  var isDisconnected: Bool { ending == .gone }

  /// The stream hub has the socket.
  var isTakenOver: Bool { ending == .takenOver }

  /// The socket is read for a while after the close.
  var lingers: Bool { ending == .refused || ending == .refusedDirectly }

  /// A response begins, or the time without one; the exchange of a client that has not received earlier responses goes on.
  func exchangeBegins() {
    if charge?.socket == 0 { charge?.since = context.now }
  }

  /// Counts a response and reports it to the observer of responses.
  func report(_ response: HTTPResponse) {
    if !current.isHead { context.counters.bodyBytes.add(response.length ?? 0) }
    guard let answered = context.answered else { return }
    answered(
      HTTPAccess(
        request: current.request, target: current.target, peer: peer, response: response,
        nanoseconds: UInt64(clamping: MonotonicInstant.now.nanoseconds - current.headTime.nanoseconds)))
  }

  // MARK: - Suspension

  var isSuspended: Bool { if case .suspended = handling { true } else { false } }

  /// Takes the connection out of libmicrohttpd's epoll set until ``resume()``.
  func suspend() {
    guard !isSuspended else { return }
    client.suspend()
    // Only the loop's own poller sees the client of a suspended connection close it, or send more.
    let events: Poller.Events = [.readable, .peerClosed, .edgeTriggered]
    var isWatched = if case .resumed = handling { true } else { false }
    if !isWatched { isWatched = (try? context.poller.add(client.descriptor, events, token: token)) != nil }
    handling = .suspended(isWatched: isWatched, isInputLimited: false)
  }

  func resume() {
    guard case .suspended(let isWatched, let isInputLimited) = handling else { return }
    handling = isWatched ? .resumed : .library
    if isInputLimited { client.restoreInput() }
    client.resume()
  }

  /// Makes the kernel buffer as little as it can of what the client sends until the response, beyond what it has already.
  func limitInput() {
    guard case .suspended(let isWatched, false) = handling else { return }
    handling = .suspended(isWatched: isWatched, isInputLimited: true)
    client.limitInput()
  }

  /// The request is over, or the connection is closed: the loop's own poller does not wait for the socket any more.
  ///
  /// - Returns: whether it did, because the request was suspended.
  @discardableResult
  func unwatch() -> Bool {
    defer { handling = .library }
    switch handling {
    case .library, .suspended(isWatched: false, _): return false
    case .resumed, .suspended:
      context.poller.remove(client.descriptor)
      return true
    }
  }

  /// Makes libmicrohttpd handle a connection whose stream ends in its next turn.
  ///
  /// 0.9.75 closes such a connection and does not clean it up until it is the oldest of all that share the default
  /// timeout. Connections with a timeout of their own are handled in every turn.
  func keepPolled() {
    context.needsTurn = true
    guard !isPolledByLibrary else { return }
    isPolledByLibrary = true
    client.setTimeout(seconds: context.inactivitySeconds + 1)
  }

  /// Ends what ``keepPolled()`` began, when the connection continues after its stream.
  func stopPolling() {
    guard isPolledByLibrary else { return }
    isPolledByLibrary = false
    client.setTimeout(seconds: context.inactivitySeconds)
  }

  // MARK: - Time for a request

  /// Sets when the current request must be complete; nil while the server must act.
  func setRequestDeadline(_ deadline: MonotonicInstant?) {
    if case .unset = requestTimer {
      guard let deadline else { return }
      context.timers.set(.request(token), at: deadline)
    }
    requestTimer = .set(deadline: deadline)
  }

  /// The timer of requests has expired.
  ///
  /// - Returns: whether the request is too late.
  func requestTimerExpired() -> Bool {
    let timer = requestTimer
    requestTimer = .unset
    guard case .set(let deadline?) = timer else { return false }
    if deadline > context.now { setRequestDeadline(deadline) }
    return deadline <= context.now
  }

  func cancelTimers() {
    if case .set = requestTimer { context.timers.cancel(.request(token)) }
    if ending == .refusedDirectly { context.timers.cancel(.cut(token)) }
  }
}
