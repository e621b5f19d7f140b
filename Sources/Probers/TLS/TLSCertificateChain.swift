internal import CGnuTLS
internal import Glibc
internal import ReachabilityModel
internal import TextSyntax

/// The certificates that a peer has sent, its own first.
@safe final class TLSCertificateChain {
  private var certificates: [gnutls_x509_crt_t?] = unsafe []

  /// Reads the certificates of the session's peer; nil if none can be decoded.
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

  /// The earliest expiry of all certificates that the peer sent, whether or not they are needed.
  var earliestExpiry: Timestamp? {
    unsafe certificates.map { unsafe Timestamp(second: gnutls_x509_crt_get_expiration_time($0)) }.min()
  }

  /// The paths from the peer's own certificate upwards, in the order in which they were sent; usually there is one.
  ///
  /// An authority may have several certificates for one key, issued by others and by itself, and servers also send
  /// those that old clients need (RFC 4158 §2): one valid path is sufficient.
  func certificationPaths() -> [TLSCertificationPath] {
    var found: [TLSCertificationPath] = []
    var open = unsafe certificates.isEmpty ? [] : [[0]]
    while found.count < Limits.certificationPaths, let path = open.popLast() {
      let next = issuers(after: path)
      if next.isEmpty { unsafe found.append(TLSCertificationPath(path.map { unsafe certificates[$0] }, of: self)) }
      open += next.reversed().map { path + [$0] }
    }
    return found
  }

  /// The indexes of possible issuers of the last certificate of a path that are not in the path.
  private func issuers(after path: [Int]) -> [Int] {
    guard let last = path.last, let certificate = unsafe certificates[last],
      unsafe gnutls_x509_crt_check_issuer(certificate, certificate) == 0
    else { return [] }
    return unsafe certificates.indices.filter { place in
      unsafe !path.contains(place) && gnutls_x509_crt_check_issuer(certificate, certificates[place]) != 0
    }
  }

  /// The subject of the peer's own certificate (RFC 4514).
  var subject: String { unsafe text(gnutls_x509_crt_get_dn3) }

  /// The issuer of the peer's own certificate.
  var issuer: String { unsafe text(gnutls_x509_crt_get_issuer_dn3) }

  private func text(_ read: (gnutls_x509_crt_t?, UnsafeMutablePointer<gnutls_datum_t>?, UInt32) -> Int32) -> String {
    var datum = unsafe gnutls_datum_t()
    guard let first = unsafe certificates.first, unsafe read(first, &datum, 0) == 0 else { return "" }
    defer { unsafe CGnuTLS_free(datum.data) }
    return unsafe String(decoding: UnsafeBufferPointer(start: datum.data, count: Int(datum.size)), as: UTF8.self)
  }

  /// The names and addresses in the peer's own certificate (RFC 5280 §4.2.1.6).
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

  /// SHA-256 of the peer's own certificate, in hexadecimal digits.
  var fingerprint: String {
    var bytes = [UInt8](repeating: 0, count: 32)
    var size = bytes.count
    guard let first = unsafe certificates.first,
      unsafe gnutls_x509_crt_get_fingerprint(first, GNUTLS_DIG_SHA256, &bytes, &size) == 0
    else { return "" }
    return bytes.hexadecimal
  }

  /// Whether the certificate is valid for a name or address (RFC 9525 §6).
  func isFor(_ name: String) -> Bool {
    guard let first = unsafe certificates.first ?? nil, unsafe gnutls_x509_crt_check_hostname(first, name) != 0 else {
      return false
    }
    // Without such a name GnuTLS accepts the subject's common name, which RFC 9525 §6.3 does not allow.
    return unsafe IPAddress(name) != nil || Self.hasName(first)
  }

  private static func hasName(_ certificate: gnutls_x509_crt_t) -> Bool {
    var bytes = [UInt8](repeating: 0, count: Limits.nameBytes + 1)
    for index in 0..<UInt32(Limits.certificateNamesSought) {
      var size = bytes.count
      let kind = unsafe gnutls_x509_crt_get_subject_alt_name(certificate, index, &bytes, &size, nil)
      if kind == Int32(GNUTLS_SAN_DNSNAME.rawValue) { return true }
      if kind == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE { return false }
    }
    return false
  }
}

extension Timestamp {
  /// A time in a certificate, within the reported range.
  init(second: time_t) {
    self.init(microseconds: Int64(clamping: min(second, Limits.latestSecond)) * 1_000_000)
  }
}
