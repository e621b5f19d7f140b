internal import CGnuTLS
internal import Glibc
internal import EventLoop

/// Trusted authorities, read once from their file: for the system's, more than a hundred certificates.
@safe final class TLSTrustStore {
  /// Why the authorities cannot be read.
  struct Failure: Error {
    var path: String?
    let cause: String

    var message: String { "the authorities of \(path ?? "the system") cannot be read: \(cause)" }
  }

  /// The file of all authorities on Debian and most other distributions, which GnuTLS reads as the system's.
  static let systemFile = "/etc/ssl/certs/ca-certificates.crt"

  let list: gnutls_x509_trust_list_t
  private let signature: FileSignature

  /// Reads a PEM file; nil for the system's authorities.
  init(_ path: String?) throws(Failure) {
    signature = FileSignature(path ?? Self.systemFile)
    // Reading from a pipe would block GnuTLS, and every check with it, until a process writes to the pipe.
    if path != nil, signature.exists, !signature.isRegular { throw Failure(path: path, cause: "not a regular file") }
    var new: gnutls_x509_trust_list_t?
    guard unsafe gnutls_x509_trust_list_init(&new, 0) == 0, let new = unsafe new else {
      throw Failure(path: path, cause: "no memory for certificates")
    }
    unsafe list = new
    let count =
      if let path {
        unsafe gnutls_x509_trust_list_add_trust_file(new, path, nil, GNUTLS_X509_FMT_PEM, 0, 0)
      } else {
        unsafe gnutls_x509_trust_list_add_system_trust(new, 0, 0)
      }
    // Without any authority every certificate is untrusted, which would look like a fault of the peer.
    guard count > 0 else {
      let cause = count < 0 ? unsafe String(cString: gnutls_strerror(count)) : "the file contains no certificates"
      throw Failure(path: path, cause: cause)
    }
  }

  deinit { unsafe gnutls_x509_trust_list_deinit(list, 1) }

  /// Whether the file is unchanged since it was read.
  func isCurrent(_ path: String?) -> Bool { FileSignature(path ?? Self.systemFile) == signature }
}

/// The recently used stores; changes of their files are detected.
///
/// Confined to the prober's thread.
final class TLSTrustStores {
  private var kept: [String: TLSTrustStore] = [:]

  func store(_ path: String?) throws(TLSTrustStore.Failure) -> TLSTrustStore {
    if let known = kept[path ?? ""], known.isCurrent(path) { return known }
    let new = try TLSTrustStore(path)
    if kept.count >= Limits.trustStores { kept.removeAll() }
    kept[path ?? ""] = new
    return new
  }
}
