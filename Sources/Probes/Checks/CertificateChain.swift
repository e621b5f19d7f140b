internal import CGnuTLS
internal import Glibc
internal import ReachabilityModel

/// The certificates that a peer has shown, its own first.
@safe final class CertificateChain {
  private var certificates: [gnutls_x509_crt_t?] = unsafe []

  /// What the session's peer has shown; nil if it was nothing that can be read.
  init?(of session: gnutls_session_t) {
    var count: UInt32 = 0
    guard let list = unsafe gnutls_certificate_get_peers(session, &count), count > 0 else { return nil }
    for index in 0..<min(Int(count), Limits.certificates) {
      var certificate: gnutls_x509_crt_t?
      guard unsafe gnutls_x509_crt_init(&certificate) == 0, let certificate = unsafe certificate else { return nil }
      unsafe certificates.append(certificate)
      guard unsafe gnutls_x509_crt_import(certificate, list + index, GNUTLS_X509_FMT_DER) == 0 else { return nil }
    }
  }

  deinit { unsafe certificates.forEach { unsafe gnutls_x509_crt_deinit($0) } }

  /// The end of the first to expire of all that were shown, whether or not they are needed.
  var earliestExpiry: Timestamp? {
    unsafe certificates.map { unsafe Self.time(gnutls_x509_crt_get_expiration_time($0)) }.min()
  }

  /// From when to when a certificate is valid.
  struct Validity {
    let begin: Timestamp
    let end: Timestamp
  }

  /// The validity of the peer's own certificate, of those that were shown and lead from it to an authority, and of the
  /// authority's if `store` has it.
  ///
  /// What was shown besides has no part in it: servers add certificates that have expired, for old clients' sake.
  func validities(upTo store: TrustStore) -> [Validity] {
    var found: [Validity] = []
    var current = unsafe certificates.first ?? nil
    for _ in 0..<Limits.certificates {
      guard let certificate = unsafe current else { break }
      found.append(unsafe Self.validity(certificate))
      if unsafe gnutls_x509_crt_check_issuer(certificate, certificate) != 0 { break }
      var authority: gnutls_x509_crt_t?
      if unsafe gnutls_x509_trust_list_get_issuer(store.list, certificate, &authority, 0) == 0,
        let authority = unsafe authority
      {
        found.append(unsafe Self.validity(authority))
        break
      }
      unsafe current = certificates.first { unsafe gnutls_x509_crt_check_issuer(certificate, $0) != 0 } ?? nil
    }
    return found
  }

  private static func validity(_ certificate: gnutls_x509_crt_t) -> Validity {
    unsafe Validity(
      begin: time(gnutls_x509_crt_get_activation_time(certificate)),
      end: time(gnutls_x509_crt_get_expiration_time(certificate)))
  }

  private static func time(_ seconds: time_t) -> Timestamp {
    Timestamp(microseconds: Int64(clamping: min(seconds, Limits.latestSecond)) * 1_000_000)
  }

  /// The subject of the peer's own (RFC 4514).
  var subject: String { unsafe text(gnutls_x509_crt_get_dn3) }

  /// Who signed it.
  var issuer: String { unsafe text(gnutls_x509_crt_get_issuer_dn3) }

  private func text(_ read: (gnutls_x509_crt_t?, UnsafeMutablePointer<gnutls_datum_t>?, UInt32) -> Int32) -> String {
    var datum = unsafe gnutls_datum_t()
    guard let first = unsafe certificates.first, unsafe read(first, &datum, 0) == 0 else { return "" }
    defer { unsafe CGnuTLS_free(datum.data) }
    return unsafe String(decoding: UnsafeBufferPointer(start: datum.data, count: Int(datum.size)), as: UTF8.self)
  }

  /// The names and addresses that it is for (RFC 5280 §4.2.1.6).
  var names: [String] {
    guard let first = unsafe certificates.first else { return [] }
    var names: [String] = []
    for index in 0..<UInt32(Limits.certificateNames) {
      var bytes = [UInt8](repeating: 0, count: Limits.nameBytes + 1)
      var size = bytes.count
      let kind = unsafe gnutls_x509_crt_get_subject_alt_name(first, index, &bytes, &size, nil)
      if kind == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE { break }
      let content = bytes.prefix(size)
      switch kind {
      case Int32(GNUTLS_SAN_DNSNAME.rawValue): names.append(String(decoding: content, as: UTF8.self))
      case Int32(GNUTLS_SAN_IPADDRESS.rawValue): IPAddress(octets: content).map { names.append($0.description) }
      default: continue
      }
    }
    return names
  }

  /// Whether it is for that name or address (RFC 6125).
  func isFor(_ name: String) -> Bool {
    guard let first = unsafe certificates.first else { return false }
    return unsafe gnutls_x509_crt_check_hostname(first, name) != 0
  }

  /// Whether it leads to an authority of `store` and is meant for servers, whatever its dates are; if not, why.
  ///
  /// Dates are judged apart, so that an expired certificate of a known authority is not called untrusted.
  func distrust(by store: TrustStore) -> String? {
    let flags = UInt32(GNUTLS_VERIFY_DISABLE_TIME_CHECKS.rawValue | GNUTLS_VERIFY_DISABLE_TRUSTED_TIME_CHECKS.rawValue)
    let (code, status) = verify(by: store, flags)
    guard code == 0 else { return unsafe String(cString: gnutls_strerror(code)) }
    guard status != 0 else { return nil }
    if status & UInt32(GNUTLS_CERT_PURPOSE_MISMATCH.rawValue) != 0 {
      return "it is not meant for servers (its extended key usage)"
    }
    var words = unsafe gnutls_datum_t()
    guard unsafe gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &words, 0) == 0 else {
      return "it cannot be verified"
    }
    defer { unsafe CGnuTLS_free(words.data) }
    return unsafe String(decoding: UnsafeBufferPointer(start: words.data, count: Int(words.size)), as: UTF8.self)
      .replacing("\0", with: "").trimmed
  }
}

// What GnuTLS says of the whole.
extension CertificateChain {
  /// Whether the chain that GnuTLS finds to an authority of `store` is in order now, dates included.
  func isGoodNow(by store: TrustStore) -> Bool { verify(by: store, 0) == (0, 0) }

  private func verify(by store: TrustStore, _ flags: UInt32) -> (code: Int32, status: UInt32) {
    var status: UInt32 = 0
    var purpose = Array(GNUTLS_KP_TLS_WWW_SERVER.utf8) + [0]
    let code = unsafe purpose.withUnsafeMutableBytes { purpose in
      var wanted = unsafe gnutls_typed_vdata_st(
        type: GNUTLS_DT_KEY_PURPOSE_OID, data: purpose.bindMemory(to: UInt8.self).baseAddress, size: 0)
      var chain = unsafe certificates
      return unsafe chain.withUnsafeMutableBufferPointer { chain in
        unsafe gnutls_x509_trust_list_verify_crt2(
          store.list, chain.baseAddress, UInt32(chain.count), &wanted, 1, flags, &status, nil)
      }
    }
    return (code, status)
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
