internal import CGnuTLS
internal import Glibc
internal import ReachabilityModel
internal import TextSyntax

/// One path from a peer's own certificate upwards, through some of the certificates that it has sent.
@safe struct TLSCertificationPath {
  struct Validity {
    let begin: Timestamp
    let end: Timestamp
  }

  /// Keeps the certificates alive.
  private let chain: TLSCertificateChain
  private let certificates: [gnutls_x509_crt_t?]

  init(_ certificates: [gnutls_x509_crt_t?], of chain: TLSCertificateChain) {
    self.chain = chain
    unsafe self.certificates = unsafe certificates
  }

  /// The validity periods of its certificates, and of the authority's if `store` has it.
  func validities(upTo store: TLSTrustStore) -> [Validity] {
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

  /// Why the path to an authority of `store` is not valid for servers, regardless of dates; nil if it is valid.
  ///
  /// Dates are evaluated separately, so that an expired certificate of a trusted authority is not reported as
  /// untrusted.
  func untrustedReason(by store: TLSTrustStore) -> String? {
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

  /// Whether GnuTLS accepts the path to an authority of `store` now, including all dates.
  func isValidNow(by store: TLSTrustStore) -> Bool { verify(by: store, 0) == (0, 0) }

  private func verify(by store: TLSTrustStore, _ flags: UInt32) -> (code: Int32, status: UInt32) {
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
