internal import CGnuTLS
internal import Glibc

/// The TLS identity of a server: its certificates and the private key of the first one.
///
/// An identity is immutable: a renewed certificate is a new identity (``HTTPServer/replaceIdentity(_:)``).
@safe public final class ServerTLSIdentity: @unchecked Sendable {
  /// The priority string for gnutls_priority_init(3): Mozilla's "intermediate" profile as an explicit list.
  ///
  /// The list is explicit so that later versions of GnuTLS add nothing to it.
  ///
  /// It has TLS 1.3 and 1.2, forward secrecy and AEAD ciphers only. X25519 is first because clients offer it first;
  /// another choice would cost each of them a round trip.
  static let priorities =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA"
    + ":-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:-MAC-ALL:+AEAD"
    + ":-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:%SERVER_PRECEDENCE"

  /// When the first certificate, the server's own, expires, in seconds since 1970.
  public let expires: Int64

  /// The certificates, the server's own first; not written after init, so that all threads may read them.
  let certificates: UnsafeMutableBufferPointer<gnutls_pcert_st>
  let key: gnutls_privkey_t
  /// The key of session tickets (RFC 8446 §4.6.1).
  ///
  /// A ticket is valid only as long as its server has this identity.
  private let ticketKey: gnutls_datum_t

  /// Makes an identity from PEM texts.
  ///
  /// - Parameters:
  ///   - certificate: the server's certificate and the intermediate ones; the root may be omitted.
  ///   - privateKey: the private key of the server's certificate, without a password.
  /// - Throws: the reason why they cannot be used: no PEM, the key of another certificate, or a broken chain.
  public init(certificate: [UInt8], privateKey: [UInt8]) throws(ServerTLSIdentityError) {
    try Self.checkPair(certificate, privateKey)
    let list = UnsafeMutableBufferPointer<gnutls_pcert_st>.allocate(capacity: Limits.certificates)
    unsafe list.initialize(repeating: gnutls_pcert_st())
    var count = UInt32(Limits.certificates)
    var code = unsafe Self.withCertificates(certificate) { certificates, found in
      guard found <= count else { return GNUTLS_E_SHORT_MEMORY_BUFFER }
      count = found
      return unsafe gnutls_pcert_import_x509_list(
        list.baseAddress, certificates, &count, GNUTLS_X509_CRT_LIST_SORT.rawValue)
    }
    guard code >= 0, count > 0 else {
      unsafe list.deallocate()
      throw ServerTLSIdentityError(part: .certificate, code: code)
    }
    var key: gnutls_privkey_t?
    code = unsafe gnutls_privkey_init(&key)
    if code >= 0 {
      code = unsafe Self.withDatum(privateKey) { datum in
        unsafe gnutls_privkey_import_x509_raw(key, datum, GNUTLS_X509_FMT_PEM, nil, 0)
      }
    }
    var ticketKey = unsafe gnutls_datum_t()
    if code >= 0 { code = unsafe gnutls_session_ticket_key_generate(&ticketKey) }
    guard code >= 0, let loaded = unsafe key else {
      for index in 0..<Int(count) { unsafe gnutls_pcert_deinit(&list[index]) }
      unsafe list.deallocate()
      unsafe gnutls_privkey_deinit(key)
      throw ServerTLSIdentityError(part: .key, code: code)
    }
    unsafe certificates = UnsafeMutableBufferPointer(rebasing: list[..<Int(count)])
    unsafe self.key = loaded
    unsafe self.ticketKey = ticketKey
    expires = unsafe Self.end(of: &list[0])
  }

  /// Makes a session issue and accept tickets, with which a client resumes its session without a full handshake.
  ///
  /// GnuTLS copies the key and derives the keys in use from it, which it changes with time. 0-RTT data is not accepted.
  func enableTickets(_ session: gnutls_session_t) {
    var key = unsafe ticketKey
    _ = unsafe gnutls_session_ticket_enable_server(session, &key)
    unsafe gnutls_db_set_cache_expiration(session, Limits.ticketSeconds)
  }

  /// Checks through GnuTLS that the key belongs to the certificate.
  private static func checkPair(_ certificate: [UInt8], _ privateKey: [UInt8]) throws(ServerTLSIdentityError) {
    var pair: gnutls_certificate_credentials_t?
    guard unsafe gnutls_certificate_allocate_credentials(&pair) >= 0 else {
      throw ServerTLSIdentityError(part: .certificate, code: GNUTLS_E_MEMORY_ERROR)
    }
    defer { unsafe gnutls_certificate_free_credentials(pair) }
    let code = unsafe withDatum(certificate) { certificate in
      unsafe withDatum(privateKey) { key in
        unsafe gnutls_certificate_set_x509_key_mem(pair, certificate, key, GNUTLS_X509_FMT_PEM)
      }
    }
    guard code < 0 else { return }
    // Reading the certificate alone shows which of the two has the error.
    let alone = unsafe withCertificates(certificate) { _, _ in 0 }
    throw ServerTLSIdentityError(part: alone < 0 ? .certificate : .key, code: code)
  }

  /// Reads all certificates of a PEM text.
  ///
  /// This function frees them itself, because GnuTLS 3.7 leaks those that it removes from a broken chain.
  private static func withCertificates(
    _ text: [UInt8], _ body: (UnsafeMutablePointer<gnutls_x509_crt_t?>?, UInt32) -> Int32
  ) -> Int32 {
    var list: UnsafeMutablePointer<gnutls_x509_crt_t?>?
    var count: UInt32 = 0
    let code = unsafe withDatum(text) { datum in
      unsafe gnutls_x509_crt_list_import2(&list, &count, datum, GNUTLS_X509_FMT_PEM, 0)
    }
    guard code >= 0, let list = unsafe list else { return code }
    defer {
      for index in 0..<Int(count) { unsafe gnutls_x509_crt_deinit(list[index]) }
      unsafe CGnuTLS_free(list)
    }
    return unsafe body(list, count)
  }

  private static func end(of certificate: UnsafeMutablePointer<gnutls_pcert_st>) -> Int64 {
    var parsed: gnutls_x509_crt_t?
    guard unsafe gnutls_pcert_export_x509(certificate, &parsed) >= 0 else { return 0 }
    defer { unsafe gnutls_x509_crt_deinit(parsed) }
    return Int64(unsafe gnutls_x509_crt_get_expiration_time(parsed))
  }

  private static func withDatum(_ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) -> Int32) -> Int32 {
    var bytes = bytes
    return unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      var datum = unsafe gnutls_datum_t(data: buffer.baseAddress, size: UInt32(clamping: buffer.count))
      return unsafe body(&datum)
    }
  }

  deinit {
    for index in unsafe certificates.indices { unsafe gnutls_pcert_deinit(&certificates[index]) }
    unsafe certificates.deallocate()
    unsafe gnutls_privkey_deinit(key)
    unsafe gnutls_memset(ticketKey.data, 0, Int(ticketKey.size))
    unsafe CGnuTLS_free(ticketKey.data)
  }
}

/// The reason why a certificate and a key cannot be used as an identity.
public struct ServerTLSIdentityError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The text that has the error.
  public enum Part: String, Sendable {
    /// The certificates.
    case certificate
    /// The private key, or its mismatch with the certificate.
    case key
  }

  /// The text that has the error.
  public let part: Part
  /// The message of GnuTLS.
  public let reason: String

  /// The part and the reason, as text.
  public var description: String { "\(part.rawValue): \(reason)" }

  init(part: Part, code: Int32) {
    self.part = part
    reason = unsafe gnutls_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }
}
