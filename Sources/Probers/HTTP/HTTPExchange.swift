internal import CAres
internal import CCurl
internal import CSockets
internal import Glibc
internal import EventLoop
internal import HostResolver
internal import ReachabilityModel

/// One HTTP request, over TLS if the target requires it, and as many redirects as the options allow.
///
/// The exchange connects the socket itself, as for every other protocol, and passes it to libcurl.
final class HTTPExchange: ProberExchange, AddressConnectorOwner, ProberDescriptorHandler {
  enum Step {
    case connecting, transferring
    /// The name of a redirect, since a time.
    case resolving(since: MonotonicInstant, Resolver.Cancellation)
  }

  unowned let check: ProberCheck
  unowned let loop: ProberLoop
  var options: HTTPOptions { answer.options }
  var target: CheckTarget
  /// Of the target, or of a redirect's.
  private var connector: AddressConnector?
  private var peer: SocketPeer?
  private var socket: ProberTCPSocket?
  private var transfer: HTTPTransfer?
  /// The socket that libcurl owns.
  private var transferDescriptor = curl_socket_t(CURL_SOCKET_BAD)
  var request: HTTPProbeRequest
  var answer: HTTPResponseReader
  var step = Step.connecting
  var redirects = HTTPRedirects()
  private var cookies = HTTPCookieJar()
  /// Whether libcurl has asked for a second connection.
  private var needsConnection = false
  /// Whether HTTP/2 is not offered.
  private var isHTTP1: Bool
  /// The TLS sessions before the last redirect.
  private var sessions: [CheckResult.TLS] = []
  private var fault: ProberResult?

  init(_ check: ProberCheck, _ options: HTTPOptions, _ loop: ProberLoop) {
    self.check = check
    self.loop = loop
    target = check.request.target
    request = HTTPProbeRequest(options, hostname: check.request.hostname)
    isHTTP1 = options.version == .http11
    answer = HTTPResponseReader(options)
  }

  func begin() { connect(to: check.candidates) }

  /// Connects to the first address that answers.
  func connect(to peers: [SocketPeer]) {
    step = .connecting
    let connector = AddressConnector(check, peers, loop, for: self)
    self.connector = connector
    connector.begin()
  }

  func resume() { connector?.resume() }

  func awake() {
    if case .connecting = step { connector?.awake() }
  }

  func attempt(_ peer: SocketPeer, of connector: AddressConnector) -> any AddressAttempt {
    TCPConnectAttempt(check, peer, loop, connector)
  }

  func contacted(_ attempt: any AddressAttempt) {
    peer = attempt.peer
    socket = (attempt as? TCPConnectAttempt)?.handOver(to: self)
    startTransfer()
  }

  /// Libcurl owns the descriptor.
  func ready(_ event: Poller.Event) {}

  private func startTransfer() {
    step = .transferring
    guard let group = loop.shared.transfers.group(), let transfer = loop.shared.transfers.transfer() else {
      return loop.conclude(check, ProberResult(.unknown, .cancelled, detail: "libcurl could not be initialised"))
    }
    self.transfer = transfer
    let fields = request.fields(cookies: cookies.field(for: target))
    guard let peer, transfer.prepare(CurlTarget(target, tlsName: configuredName), peer, request, fields),
      transfer.setOwnOptions(request, fields, redirects.login, isHTTP1: isHTTP1), transfer.start(self, in: group)
    else { return loop.conclude(check, ProberResult(.unknown, .cancelled, detail: "libcurl refuses the request")) }
  }

  // MARK: Called by libcurl's callbacks, which must not end the check

  /// Passes the connected socket to libcurl, once.
  func handOver() -> curl_socket_t {
    needsConnection = socket == nil
    guard let socket else { return curl_socket_t(CURL_SOCKET_BAD) }
    transferDescriptor = socket.descriptor
    self.socket = nil
    return transferDescriptor
  }

  /// Verifies the certificate, if there is one, before the request is sent, and refuses a renegotiation from then on.
  func maySend() -> Bool {
    guard target.scheme == .https else { return true }
    guard let session = unsafe transfer?.session else {
      fault = ProberResult(.unknown, .tlsHandshake, detail: CurlLibrary.tlsProblem ?? "no TLS session")
      return false
    }
    unsafe TLSPeerLimits.applyAfterHandshake(to: session, of: transferDescriptor)
    let verdict = unsafe TLSVerification(session, options.tls, name: tlsName, loop.shared.trust)
    check.evidence.tls = verdict.evidence.withExpiries(of: sessions)
    sessions.append(verdict.evidence)
    fault = verdict.fault
    return fault == nil
  }

  func take(header bytes: UnsafeRawBufferPointer) -> Bool { unsafe answer.take(header: bytes) }

  func take(body bytes: UnsafeRawBufferPointer) -> Bool { unsafe answer.take(body: bytes) }

  // MARK: End of a transfer

  /// Handles the end of a transfer, successful or not.
  func finished(_ code: CURLcode) {
    guard let transfer else { return }
    transfer.hasSucceeded = code == CURLE_OK
    note(transfer)
    if let fault { return loop.conclude(check, fault) }
    guard code == CURLE_OK || answer.isFinished else {
      let words = transfer.errorMessage
      // After HTTP_1_1_REQUIRED and REFUSED_STREAM (RFC 9113 §7), which say that the request was not processed, libcurl would
      // send it on another connection.
      if !isHTTP1, needsConnection, let peer {
        isHTTP1 = true
        needsConnection = false
        endTransfer()
        answer = HTTPResponseReader(options)
        return connect(to: [peer])
      }
      return loop.conclude(check, finding(code, words))
    }
    let status = transfer.status
    if let location = location(status), redirects.count < min(options.maximumRedirects, HTTPOptions.redirectLimit) {
      for cookie in answer.cookies { cookies.store(cookie, from: target, now: .now) }
      return follow(CurlTarget.redirect(location, from: target), after: status)
    }
    do throws(ProberPatternError) {
      loop.conclude(check, try answer.fault(status: status, loop.shared.patterns) ?? .up)
    } catch {
      loop.conclude(check, error.finding)
    }
  }

  func deadlineMoved() { transfer?.limitTime() }

  func overdue() -> ProberResult {
    switch step {
    case .connecting: return connector?.overdue() ?? .cancelled
    case .resolving: return ProberResult(.unknown, .dnsTimeout, detail: "no DNS server answered in time")
    case .transferring:
      if let transfer { note(transfer) }
      let message =
        answer.hasStarted ? "the answer was incomplete at the timeout" : "connected, but no answer before the timeout"
      return ProberResult(.down, .timeout, detail: message)
    }
  }

  func endTransfer() {
    if let transfer {
      transfer.end(transferDescriptor)
      loop.shared.transfers.recycle(transfer)
    }
    transfer = nil
    connector?.end()
    connector = nil
    // libcurl has not taken it.
    if let socket { loop.descriptors.close(socket.descriptor) }
    socket = nil
  }

  func end() {
    if case .resolving(_, let resolution) = step { resolution.cancel() }
    endTransfer()
  }
}

extension HTTPOptions: ProberOptions {
  func exchange(_ check: ProberCheck, _ loop: ProberLoop) -> (any ProberExchange)? {
    HTTPExchange(check, self, loop)
  }
}
