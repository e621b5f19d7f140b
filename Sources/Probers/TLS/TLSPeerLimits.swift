internal import CGnuTLS

/// Bounds what a TLS server can cost the thread that checks it, because other checks share the thread.
///
/// One call of GnuTLS computes until it is done, whatever the check's timeout: a key exchange with FFDHE8192 takes 0.3 s, and a
/// signature of an RSA key of 65,536 bits 17 s. A server needs no valid certificate for either (ADR 54).
enum TLSPeerLimits {
  /// Applies all limits to a client's session before its handshake.
  ///
  /// - Returns: an error code of GnuTLS, or 0.
  static func apply(to session: gnutls_session_t) -> Int32 {
    guard let priorities = unsafe TLSPriorities.shared.handle else { return GNUTLS_E_MEMORY_ERROR }
    let code = unsafe gnutls_priority_set(session, priorities)
    unsafe gnutls_handshake_set_max_packet_length(session, Limits.handshakeMessageBytes)
    unsafe watchHandshake(session)
    return code
  }

  /// Applies all limits to a session of libcurl, unless the handshake has begun.
  ///
  /// - Parameters:
  ///   - session: the session.
  ///   - current: finds it again before the handshake reads, unless it was released.
  static func applyBeforeHandshake(
    to session: gnutls_session_t, findingAgain current: @escaping () -> gnutls_session_t?
  ) {
    // The initial value, which is no message. GnuTLS 3.8 has it again after the handshake.
    guard unsafe gnutls_handshake_get_last_out(session).rawValue == .max,
      unsafe gnutls_cipher_get(session) == GNUTLS_CIPHER_NULL
    else { return }
    _ = unsafe apply(to: session)
    unsafe TLSReadBudget.limitHandshake(session) {
      // libcurl 8.14 replaces the function that watches the messages, after its last callback.
      if let session = unsafe current() { unsafe watchHandshake(session) }
    }
  }

  /// Applies the limits after the handshake to a session of libcurl.
  static func applyAfterHandshake(to session: gnutls_session_t, of descriptor: Int32) {
    // libcurl 8 replaces the function that was set before the handshake.
    unsafe watchHandshake(session)
    unsafe TLSReadBudget.limitRecords(session, of: descriptor)
  }

  /// Makes this session end with an error instead of a second handshake, and before it computes with a large key.
  ///
  /// libcurl waits for a second handshake in one call, without a limit of time.
  static func watchHandshake(_ session: gnutls_session_t) {
    unsafe gnutls_handshake_set_hook_function(session, CGnuTLS_any_message(), GNUTLS_HOOK_PRE, tlsHandshakeMessage)
  }

  /// Whether the server's own certificate in a Certificate message has a key that may be used.
  ///
  /// A message or a certificate that cannot be decoded is permitted, because GnuTLS refuses it.
  fileprivate static func permitsKey(in message: UnsafePointer<gnutls_datum_t>, isTLS13: Bool) -> Bool {
    let bytes = unsafe UnsafeBufferPointer(start: message.pointee.data, count: Int(message.pointee.size))
    guard let own = unsafe ownCertificate(in: bytes, isTLS13: isTLS13) else { return true }
    var certificate: gnutls_x509_crt_t?
    guard unsafe gnutls_x509_crt_init(&certificate) == 0, let certificate = unsafe certificate else { return true }
    defer { unsafe gnutls_x509_crt_deinit(certificate) }
    var encoded = unsafe gnutls_datum_t(
      data: UnsafeMutablePointer(mutating: own.baseAddress), size: UInt32(own.count))
    guard unsafe gnutls_x509_crt_import(certificate, &encoded, GNUTLS_X509_FMT_DER) == 0 else { return true }
    var bits: UInt32 = 0
    unsafe gnutls_x509_crt_get_pk_algorithm(certificate, &bits)
    guard bits <= Limits.publicKeyBits else { return false }
    var (modulus, exponent) = unsafe (gnutls_datum_t(), gnutls_datum_t())
    // Only RSA keys have one.
    guard unsafe gnutls_x509_crt_get_pk_rsa_raw(certificate, &modulus, &exponent) == 0 else { return true }
    defer {
      unsafe CGnuTLS_free(modulus.data)
      unsafe CGnuTLS_free(exponent.data)
    }
    let digits = unsafe UnsafeBufferPointer(start: exponent.data, count: Int(exponent.size)).drop { $0 == 0 }
    return unsafe digits.count <= Limits.publicExponentBytes
  }

  /// The first certificate of the message, DER (RFC 5246 §7.4.2, RFC 8446 §4.4.2); nil if there is none.
  private static func ownCertificate(
    in message: UnsafeBufferPointer<UInt8>, isTLS13: Bool
  ) -> UnsafeBufferPointer<UInt8>? {
    // TLS 1.3 has a context before the list, which is empty except after a handshake.
    let list = isTLS13 ? 1 + Int(unsafe message.first ?? 0) : 0
    let start = list + 6
    guard message.count >= start else { return nil }
    let length = unsafe message[start - 3..<start].reduce(0) { $0 << 8 | Int($1) }
    guard length > 0, message.count - start >= length else { return nil }
    return unsafe UnsafeBufferPointer(rebasing: message[start..<start + length])
  }
}

/// The versions and algorithms of all sessions; read-only after init, so that all threads may use them.
@safe private final class TLSPriorities: @unchecked Sendable {
  static let shared = TLSPriorities()

  /// What is removed from the system's priorities (gnutls_priority_init(3)): TLS 1.0 and 1.1 (RFC 8996), and
  /// Diffie-Hellman over finite fields, which browsers do not have either.
  ///
  /// In TLS 1.2 such a server chooses the prime itself, so that its size cannot be limited by a list of groups.
  private static let removed = "-VERS-TLS1.0:-VERS-TLS1.1:-GROUP-DH-ALL:-DHE-RSA:-DHE-DSS"

  /// Nil when GnuTLS has no memory for them.
  let handle: gnutls_priority_t?

  private init() {
    var made: gnutls_priority_t?
    let code = unsafe gnutls_priority_init2(&made, Self.removed, nil, UInt32(GNUTLS_PRIORITY_INIT_DEF_APPEND))
    unsafe handle = code == 0 ? made : nil
  }
}

/// Why this side ended a TLS connection.
enum TLSRefusal: CaseIterable {
  /// The server asked for a second handshake.
  case renegotiation
  /// The key of its certificate exceeds the limits.
  case key
  /// It sent more records in the handshake than one call may read.
  case records

  /// The error with which GnuTLS ends the handshake; one that is not fatal would be tried again.
  fileprivate var code: Int32 {
    switch self {
    case .renegotiation: GNUTLS_E_UNSAFE_RENEGOTIATION_DENIED
    case .key: GNUTLS_E_CONSTRAINT_ERROR
    case .records: GNUTLS_E_TIMEDOUT
    }
  }

  /// The refusal with an error code of GnuTLS.
  init?(code: Int32) {
    guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = found
  }

  /// The refusal in a message of libcurl, which passes on the text of GnuTLS but not the code.
  init?(message: String) {
    guard let found = Self.allCases.first(where: { message.contains(unsafe String(cString: gnutls_strerror($0.code))) })
    else { return nil }
    self = found
  }

  var message: String {
    switch self {
    case .renegotiation: "the server asked for a TLS renegotiation, which is refused"
    case .key:
      "the key of the server's certificate has more than \(Limits.publicKeyBits) bits, or its exponent more than "
        + "\(Limits.publicExponentBytes * 8)"
    case .records: "the server's part of the TLS handshake has too many records"
    }
  }
}

/// Called by GnuTLS before it sends or handles a message of a handshake; a result other than 0 ends the handshake.
private func tlsHandshakeMessage(
  _ session: gnutls_session_t?, _ type: UInt32, _ when: UInt32, _ isIncoming: UInt32,
  _ message: UnsafePointer<gnutls_datum_t>?
) -> Int32 {
  guard let session = unsafe session else { return 0 }
  switch type {
  case UInt32(GNUTLS_HANDSHAKE_CLIENT_HELLO.rawValue):
    // The first handshake has no cipher yet, also after a HelloRetryRequest.
    let isFirst = unsafe gnutls_cipher_get(session) == GNUTLS_CIPHER_NULL
    return isFirst ? 0 : TLSRefusal.renegotiation.code
  case UInt32(GNUTLS_HANDSHAKE_CERTIFICATE_PKT.rawValue):
    guard isIncoming != 0, let message = unsafe message else { return 0 }
    let isTLS13 = unsafe gnutls_protocol_get_version(session) == GNUTLS_TLS1_3
    return unsafe TLSPeerLimits.permitsKey(in: message, isTLS13: isTLS13) ? 0 : TLSRefusal.key.code
  default: return 0
  }
}
