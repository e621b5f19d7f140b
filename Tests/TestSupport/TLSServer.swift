internal import CGnuTLS
internal import Glibc

/// A TLS server on 127.0.0.1 that does as its script says with every connection, each on a thread of its own.
///
/// It is GnuTLS itself, because a script decides about messages that other servers do not send on request.
@safe public final class TLSServer: Sendable {
  /// The port on 127.0.0.1.
  public let port: UInt16
  private let listener: Int32
  private let identity: Identity

  /// Begins to accept; a connection is closed when `script` returns.
  ///
  /// - Parameters:
  ///   - certificate: the file of the certificate, PEM.
  ///   - key: the file of its key.
  ///   - priorities: versions, groups and key exchanges, for gnutls_priority_init(3).
  ///   - protocols: the protocols that the server selects from (RFC 7301).
  ///   - script: called after the handshake.
  /// - Throws: a ``TestError`` when GnuTLS or the system refuses.
  public init(
    certificate: String, key: String, priorities: String = "NORMAL", protocols: [String] = [],
    script: @escaping @Sendable (TLSPeer) -> Void
  ) throws {
    let identity = try Identity(certificate, key)
    self.identity = identity
    (listener, port) = try Loopback.bound(.stream)
    guard listen(listener, 64) == 0 else { throw Loopback.Failure(operation: "listen") }
    Loopback.thread { [listener] in
      defer { close(listener) }
      while true {
        let socket = accept(listener, nil, nil)
        guard socket >= 0 else { return }
        Loopback.thread {
          if let peer = TLSPeer(socket, identity, priorities, protocols) { script(peer) }
          close(socket)
        }
      }
    }
  }

  deinit {
    // Closed by the thread alone: here, the number could be another server's before the thread accepts again.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// The certificate and the key of all connections.
  @safe fileprivate final class Identity: @unchecked Sendable {
    let credentials: gnutls_certificate_credentials_t

    init(_ certificate: String, _ key: String) throws {
      var made: gnutls_certificate_credentials_t?
      guard unsafe gnutls_certificate_allocate_credentials(&made) == 0, let made = unsafe made else {
        throw TestError("gnutls_certificate_allocate_credentials")
      }
      unsafe credentials = made
      let code = unsafe gnutls_certificate_set_x509_key_file(made, certificate, key, GNUTLS_X509_FMT_PEM)
      guard code >= 0 else { throw TestError("\(certificate): \(unsafe String(cString: gnutls_strerror(code)))") }
    }

    deinit { unsafe gnutls_certificate_free_credentials(credentials) }
  }
}

/// One connection of a ``TLSServer``, on its thread.
@safe public final class TLSPeer {
  private let socket: Int32
  private let identity: TLSServer.Identity
  private let session: gnutls_session_t

  /// Nil when the handshake fails.
  fileprivate init?(_ socket: Int32, _ identity: TLSServer.Identity, _ priorities: String, _ protocols: [String]) {
    var made: gnutls_session_t?
    guard unsafe gnutls_init(&made, UInt32(GNUTLS_SERVER.rawValue) | UInt32(GNUTLS_NO_SIGNAL.rawValue)) == 0,
      let made = unsafe made
    else { return nil }
    self.socket = socket
    self.identity = identity
    unsafe session = made
    unsafe gnutls_priority_set_direct(made, priorities, nil)
    unsafe gnutls_credentials_set(made, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(identity.credentials))
    // GnuTLS copies the names.
    let names = unsafe protocols.map { name in
      UnsafeMutableBufferPointer<UInt8>.allocate(capacity: name.utf8.count)
    }
    defer { unsafe names.forEach { unsafe $0.deallocate() } }
    var offered = unsafe zip(names, protocols).map { buffer, name in
      _ = unsafe buffer.initialize(from: name.utf8)
      return unsafe gnutls_datum_t(data: buffer.baseAddress, size: UInt32(buffer.count))
    }
    if unsafe !offered.isEmpty {
      unsafe gnutls_alpn_set_protocols(
        made, &offered, UInt32(offered.count), UInt32(GNUTLS_ALPN_SERVER_PRECEDENCE.rawValue))
    }
    unsafe gnutls_transport_set_int2(made, socket, socket)
    guard handshake() else { return nil }
  }

  deinit { unsafe gnutls_deinit(session) }

  private func handshake() -> Bool {
    while true {
      let code = unsafe gnutls_handshake(session)
      if code == 0 { return true }
      if gnutls_error_is_fatal(code) != 0 {
        unsafe gnutls_alert_send_appropriate(session, code)
        return false
      }
    }
  }

  /// The group of the key exchange, as GnuTLS names it; empty without one.
  public var group: String {
    unsafe gnutls_group_get_name(gnutls_group_get(session)).map { unsafe String(cString: $0) } ?? ""
  }

  /// What the client sent next; empty at its end.
  public func receive() -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 16_384) { buffer, filled in
      filled = unsafe max(0, gnutls_record_recv(session, buffer.baseAddress, buffer.count))
    }
  }

  /// Sends a text.
  public func send(_ text: String) { send(Array(text.utf8)) }

  /// Sends bytes, of which a record has 16 KiB at most.
  ///
  /// - Returns: whether the connection is still open.
  @discardableResult
  public func send(_ bytes: [UInt8]) -> Bool { unsafe gnutls_record_send(session, bytes, bytes.count) >= 0 }

  /// Sends a HelloRequest (RFC 5246 §7.4.1.1) and waits for nothing.
  public func requestRenegotiation() { _ = unsafe gnutls_rehandshake(session) }

  /// Sends a HelloRequest and makes the second handshake.
  ///
  /// - Returns: whether it was completed.
  public func renegotiate() -> Bool {
    requestRenegotiation()
    var byte: UInt8 = 0
    guard unsafe gnutls_record_recv(session, &byte, 1) == Int(GNUTLS_E_REHANDSHAKE) else { return false }
    return handshake()
  }

  /// Sends a fatal alert (RFC 8446 §6.2).
  public func sendAlert() {
    _ = unsafe gnutls_alert_send(session, GNUTLS_AL_FATAL, GNUTLS_A_CERTIFICATE_REQUIRED)
  }

  /// Sends an alert that ends the connection (RFC 8446 §6.1, close_notify).
  public func close() { _ = unsafe gnutls_bye(session, GNUTLS_SHUT_WR) }

  /// Reads and ignores encrypted bytes until the client has closed.
  public func awaitClose() {
    while !Loopback.receive(4_096, from: socket).isEmpty {}
  }
}
