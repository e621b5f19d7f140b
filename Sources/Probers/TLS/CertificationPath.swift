internal import CGnuTLS
internal import Glibc
internal import ReachabilityModel

/// One way from a peer's own certificate upwards, through some of those that it has shown.
@safe struct CertificationPath {
  /// From when to when a certificate is valid.
  struct Validity {
    let begin: Timestamp
    let end: Timestamp
  }

  /// Keeps the certificates.
  private let chain: CertificateChain
  private let certificates: [gnutls_x509_crt_t?]

  init(_ certificates: [gnutls_x509_crt_t?], of chain: CertificateChain) {
    self.chain = chain
    unsafe self.certificates = unsafe certificates
  }

  /// The validity of each of its certificates, and of the authority's if `store` has it.
  func validities(upTo store: TrustStore) -> [Validity] {
    var found: [Validity] = []
    for place in unsafe certificates.indices {
      guard let certificate = unsafe certificates[place] else { break }
      found.append(unsafe Self.validity(certificate))
      if unsafe gnutls_x509_crt_check_issuer(certificate, certificate) != 0 { break }
      var authority: gnutls_x509_crt_t?
      if unsafe gnutls_x509_trust_list_get_issuer(store.list, certificate, &authority, 0) == 0,
        let authority = unsafe authority
      {
        found.append(unsafe Self.validity(authority))
        break
      }
    }
    return found
  }

  private static func validity(_ certificate: gnutls_x509_crt_t) -> Validity {
    unsafe Validity(
      begin: Timestamp(second: gnutls_x509_crt_get_activation_time(certificate)),
      end: Timestamp(second: gnutls_x509_crt_get_expiration_time(certificate)))
  }

  /// Whether it leads to an authority of `store` and is meant for servers, whatever its dates are; if not, why.
  ///
  /// Dates are judged apart, so that an expired certificate of a known authority is not called untrusted.
  func untrustedReason(by store: TrustStore) -> String? {
    let flags = UInt32(GNUTLS_VERIFY_DISABLE_TIME_CHECKS.rawValue | GNUTLS_VERIFY_DISABLE_TRUSTED_TIME_CHECKS.rawValue)
    let (code, status) = verify(by: store, flags)
    guard code == 0 else { return unsafe String(cString: gnutls_strerror(code)) }
    guard status != 0 else { return nil }
    if status & UInt32(GNUTLS_CERT_PURPOSE_MISMATCH.rawValue) != 0 {
      return "it is not meant for servers (its extended key usage)"
    }
    var message = unsafe gnutls_datum_t()
    guard unsafe gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &message, 0) == 0 else {
      return "it cannot be verified"
    }
    defer { unsafe CGnuTLS_free(message.data) }
    return unsafe String(decoding: UnsafeBufferPointer(start: message.data, count: Int(message.size)), as: UTF8.self)
      .replacing("\0", with: "").trimmed
  }

  /// Whether what GnuTLS makes of it up to an authority of `store` is in order now, dates included.
  func isValidNow(by store: TrustStore) -> Bool { verify(by: store, 0) == (0, 0) }

  private func verify(by store: TrustStore, _ flags: UInt32) -> (code: Int32, status: UInt32) {
    var status: UInt32 = 0
    var purpose = Array(GNUTLS_KP_TLS_WWW_SERVER.utf8) + [0]
    let code = unsafe purpose.withUnsafeMutableBytes { purpose in
      var wanted = unsafe gnutls_typed_vdata_st(
        type: GNUTLS_DT_KEY_PURPOSE_OID, data: purpose.bindMemory(to: UInt8.self).baseAddress, size: 0)
      var path = unsafe certificates
      return unsafe path.withUnsafeMutableBufferPointer { path in
        unsafe gnutls_x509_trust_list_verify_crt2(
          store.list, path.baseAddress, UInt32(path.count), &wanted, 1, flags, &status, nil)
      }
    }
    return (code, status)
  }
}
