internal import CGnuTLS
internal import CMicroHTTPD

/// Session tickets, and alerts for a client that cannot use the versions or the protocol of this server.
///
/// libmicrohttpd selects HTTP/1.1 or 1.0 of the protocols that a client offers (RFC 7301).
extension MHDConnection {
  /// Prepares the TLS session of a new connection, before its handshake; does nothing without TLS.
  func prepareHandshake(_ identity: ServerTLSIdentity?) {
    guard let session = unsafe session, let identity else { return }
    unsafe identity.enableTickets(session)
    unsafe gnutls_handshake_set_hook_function(
      session, UInt32(GNUTLS_HANDSHAKE_CLIENT_HELLO.rawValue), GNUTLS_HOOK_PRE, httpClientHello)
  }
}

/// What a client offers in the first message of its handshake, as far as it decides whether a handshake is possible.
struct TLSClientHello {
  /// The versions of the extension `supported_versions`; nil without it.
  private var versions: [UInt16]?
  /// The protocols of the extension ALPN (RFC 7301); nil without it.
  private var protocols: [ArraySlice<UInt8>]?
  /// The version before there was the extension.
  private let legacyVersion: UInt16

  private static let spoken = ["http/1.1", "http/1.0"].map { Array($0.utf8) }
  private static let tls12: UInt16 = 0x0303
  private static let tls13: UInt16 = 0x0304

  /// Reads the message without its header; a malformed extension is ignored, because GnuTLS refuses it.
  init(_ message: UnsafePointer<gnutls_datum_t>) {
    let bytes = unsafe UnsafeBufferPointer(start: message.pointee.data, count: Int(message.pointee.size))
    unsafe legacyVersion = bytes.count < 2 ? 0 : UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    unsafe withUnsafeMutablePointer(to: &self) { hello in
      _ = unsafe gnutls_ext_raw_parse(
        hello, httpClientExtension, message, UInt32(GNUTLS_EXT_RAW_FLAG_TLS_CLIENT_HELLO))
    }
  }

  fileprivate mutating func add(_ number: UInt32, _ body: UnsafeBufferPointer<UInt8>) {
    switch number {
    case 43:
      let list = unsafe Array(body.dropFirst())
      versions = stride(from: 0, to: list.count - 1, by: 2).map { UInt16(list[$0]) << 8 | UInt16(list[$0 + 1]) }
    case 16:
      var list = unsafe Array(body.dropFirst(2))[...]
      var names: [ArraySlice<UInt8>] = []
      while let length = list.popFirst() {
        names.append(list.prefix(Int(length)))
        list = list.dropFirst(Int(length))
      }
      protocols = names
    default: break
    }
  }

  /// The alert and the error with which the handshake must end; nil if it may continue.
  var refusal: (alert: gnutls_alert_description_t, error: Int32)? {
    let isSpoken = versions?.contains { $0 == Self.tls12 || $0 == Self.tls13 } ?? (legacyVersion >= Self.tls12)
    if !isSpoken { return (GNUTLS_A_PROTOCOL_VERSION, GNUTLS_E_UNSUPPORTED_VERSION_PACKET) }
    if let protocols, !protocols.contains(where: { Self.spoken.contains(Array($0)) }) {
      return (GNUTLS_A_NO_APPLICATION_PROTOCOL, GNUTLS_E_NO_APPLICATION_PROTOCOL)
    }
    return nil
  }
}

private func httpClientExtension(
  _ context: UnsafeMutableRawPointer?, _ number: UInt32, _ data: UnsafePointer<UInt8>?, _ size: UInt32
) -> Int32 {
  let hello = unsafe context?.assumingMemoryBound(to: TLSClientHello.self)
  unsafe hello?.pointee.add(number, UnsafeBufferPointer(start: data, count: Int(size)))
  return 0
}

/// A client's first message has been received, and is not processed yet.
///
/// libmicrohttpd closes the connection after a failed handshake without an alert, and does not report the connection
/// before that.
private func httpClientHello(
  _ session: gnutls_session_t?, _ type: UInt32, _ when: UInt32, _ isIncoming: UInt32,
  _ message: UnsafePointer<gnutls_datum_t>?
) -> Int32 {
  guard let session = unsafe session, let message = unsafe message,
    let refusal = unsafe TLSClientHello(message).refusal
  else { return 0 }
  _ = unsafe gnutls_alert_send(session, GNUTLS_AL_FATAL, refusal.alert)
  return refusal.error
}

/// Provides the certificate and key for a handshake.
///
/// GnuTLS does not retain them: the connection keeps them alive.
func httpCertificate(
  _ session: gnutls_session_t?, _ request: UnsafePointer<gnutls_cert_retr_st>?,
  _ certificates: UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?, _ count: UnsafeMutablePointer<UInt32>?,
  _ staples: UnsafeMutablePointer<UnsafeMutablePointer<gnutls_ocsp_data_st>?>?,
  _ stapleCount: UnsafeMutablePointer<UInt32>?, _ key: UnsafeMutablePointer<gnutls_privkey_t?>?,
  _ flags: UnsafeMutablePointer<UInt32>?
) -> Int32 {
  // The session's pointer is libmicrohttpd's connection, which refers to ours.
  guard let handle = unsafe gnutls_session_get_ptr(session).map(OpaquePointer.init),
    let pointer = unsafe CMicroHTTPD_socket_context(handle)
  else { return -1 }
  let connection = unsafe Unmanaged<HTTPConnection>.fromOpaque(pointer).takeUnretainedValue()
  guard let identity = connection.identityForHandshake() else { return -1 }
  unsafe certificates?.pointee = identity.certificates.baseAddress
  unsafe count?.pointee = UInt32(identity.certificates.count)
  unsafe staples?.pointee = nil
  unsafe stapleCount?.pointee = 0
  unsafe key?.pointee = identity.key
  unsafe flags?.pointee = 0
  return 0
}
