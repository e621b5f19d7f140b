internal import CAres
internal import CGnuTLS
internal import CSockets
internal import Glibc
internal import EventLoop
internal import ReachabilityModel

/// A TLS handshake and the verification of the peer's certificate (RFC 8446, RFC 5246).
@safe final class TLSExchange: ProberExchange, AddressConnectorOwner, ProberDescriptorHandler {
  private unowned let check: ProberCheck
  private unowned let loop: ProberLoop
  private let options: TLSOptions
  private let credentials: TLSCredentials
  private lazy var connector = AddressConnector(check, check.candidates, loop, for: self)
  private var socket: ProberTCPSocket?
  private var session: gnutls_session_t?
  private var begun = MonotonicInstant.now

  init(_ check: ProberCheck, _ options: TLSOptions, _ credentials: TLSCredentials, _ loop: ProberLoop) {
    self.check = check
    self.options = options
    self.credentials = credentials
    self.loop = loop
  }

  func begin() { connector.begin() }

  func resume() { connector.resume() }

  func attempt(_ peer: SocketPeer, of connector: AddressConnector) -> any AddressAttempt {
    TCPConnectAttempt(check, peer, loop, connector)
  }

  func awake() {
    if let session = unsafe session { unsafe handshake(session) } else { connector.awake() }
  }

  func ready(_ event: Poller.Event) {
    if let session = unsafe session { unsafe handshake(session) }
  }

  func contacted(_ attempt: any AddressAttempt) {
    guard let socket = (attempt as? TCPConnectAttempt)?.handOver(to: self) else { return }
    self.socket = socket
    begun = .now
    unsafe session = open(socket.descriptor)
    guard let session = unsafe session else {
      return loop.conclude(check, ProberResult(.unknown, .tlsHandshake, detail: "GnuTLS cannot open a session"))
    }
    unsafe handshake(session)
  }

  private func open(_ descriptor: Int32) -> gnutls_session_t? {
    var new: gnutls_session_t?
    guard unsafe gnutls_init(&new, CGnuTLS_client_flags()) == 0, let new = unsafe new else { return nil }
    let name = check.request.tlsName(options)
    var codes = [
      unsafe TLSPeerLimits.apply(to: new),
      unsafe gnutls_credentials_set(new, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(credentials.handle)),
    ]
    // An address is not allowed as a server name (RFC 6066 §3).
    if IPAddress(name) == nil {
      codes.append(unsafe gnutls_server_name_set(new, GNUTLS_NAME_DNS, name, name.utf8.count))
    }
    guard codes.allSatisfy({ $0 == 0 }) else {
      unsafe gnutls_deinit(new)
      return nil
    }
    unsafe gnutls_transport_set_int2(new, descriptor, descriptor)
    return unsafe new
  }

  private func handshake(_ session: gnutls_session_t) {
    var warnings = 0
    for _ in 0..<Limits.handshakeSteps {
      let code = unsafe gnutls_handshake(session)
      if code == GNUTLS_E_AGAIN {
        // GnuTLS also returns EAGAIN after each record of an incomplete message, with the next one in the socket; epoll
        // reports further data only after the socket was empty (EPOLLET).
        guard unsafe gnutls_record_get_direction(session) == 0, socket?.isReadable == true else { return }
        continue
      }
      // A warning of the peer, or a signal: continue.
      if code < 0, gnutls_error_is_fatal(code) == 0 {
        warnings += 1
        guard warnings < Limits.handshakeWarnings else {
          return loop.conclude(
            check, ProberResult(.down, .tlsHandshake, detail: "the peer sends too many TLS warnings"))
        }
        continue
      }
      guard code == 0 else { return unsafe fail(session, code) }
      check.note(.tls, since: begun)
      let verdict = unsafe TLSVerification(session, options, name: check.request.tlsName(options), loop.shared.trust)
      check.evidence.tls = verdict.evidence
      // So that the server does not log an error when the connection ends.
      unsafe gnutls_bye(session, GNUTLS_SHUT_WR)
      return loop.conclude(check, verdict.fault ?? .up)
    }
    // Continues after other checks have been handled.
    loop.wake(check, at: .now)
  }

  private func fail(_ session: gnutls_session_t, _ code: Int32) {
    check.evidence.tls = unsafe TLSVerification.evidence(session)
    if [GNUTLS_E_PREMATURE_TERMINATION, GNUTLS_E_PULL_ERROR, GNUTLS_E_PUSH_ERROR].contains(code) {
      return loop.conclude(
        check, ProberResult(.down, .reset, detail: "the connection was closed during the TLS handshake"))
    }
    var message = unsafe TLSRefusal(code: code)?.message ?? String(cString: gnutls_strerror(code))
    if code == GNUTLS_E_FATAL_ALERT_RECEIVED, let alert = unsafe gnutls_alert_get_name(gnutls_alert_get(session)) {
      message += ": \(unsafe String(cString: alert))"
    }
    loop.conclude(check, ProberResult(.down, .tlsHandshake, detail: message))
  }

  func overdue() -> ProberResult {
    if unsafe session == nil { return connector.overdue() }
    return ProberResult(
      .down, .timeout, detail: "connected, but the TLS handshake was incomplete at the timeout")
  }

  func end() {
    connector.end()
    if let session = unsafe session { unsafe gnutls_deinit(session) }
    unsafe session = nil
    if let socket { loop.descriptors.close(socket.descriptor) }
    socket = nil
  }
}

/// The credentials of every session, without a client certificate.
///
/// Certificates of peers are verified separately, after the handshake, so that a refused certificate can be reported.
@safe final class TLSCredentials {
  let handle: gnutls_certificate_credentials_t

  init?() {
    var new: gnutls_certificate_credentials_t?
    guard unsafe gnutls_certificate_allocate_credentials(&new) == 0, let new = unsafe new else { return nil }
    unsafe handle = new
  }

  deinit { unsafe gnutls_certificate_free_credentials(handle) }
}

extension CheckRequest {
  /// The name that is sent in the handshake and required in the certificate.
  func tlsName(_ options: TLSOptions) -> String { options.serverName ?? hostname ?? target.host.withoutFinalDot }
}

extension ReachabilityTarget {
  /// The host in the form that certificates use.
  var withoutFinalDot: String { host.hasSuffix(".") ? String(host.dropLast()) : host }
}

extension TLSOptions: ProberOptions {
  func exchange(_ check: ProberCheck, _ loop: ProberLoop) -> (any ProberExchange)? {
    loop.shared.credentials.map { TLSExchange(check, self, $0, loop) }
  }
}
