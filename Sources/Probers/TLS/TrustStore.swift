internal import CGnuTLS
internal import Glibc
internal import HostResolver

/// Authorities that are trusted, read once from their file: for the system's, a hundred and more certificates.
@safe final class TrustStore {
  /// Why there is none.
  struct Failure: Error {
    var path: String?
    let cause: String

    var message: String { "the authorities of \(path ?? "the system") cannot be read: \(cause)" }
  }

  /// Debian's and most others' file of all authorities, which GnuTLS reads for the system's.
  static let systemFile = "/etc/ssl/certs/ca-certificates.crt"

  let list: gnutls_x509_trust_list_t
  private let signature: FileSignature

  /// Reads a PEM file; nil for the system's authorities.
  init(_ path: String?) throws(Failure) {
    signature = FileSignature(path ?? Self.systemFile)
    // GnuTLS would wait for whoever writes into a pipe, and every check with it.
    if path != nil, signature.exists, !signature.isRegular { throw Failure(path: path, cause: "this is no plain file") }
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
    // Without any authority nothing can be trusted, and that would look as if it were the peer's fault.
    guard count > 0 else {
      let cause = count < 0 ? unsafe String(cString: gnutls_strerror(count)) : "it has no certificates in it"
      throw Failure(path: path, cause: cause)
    }
  }

  deinit { unsafe gnutls_x509_trust_list_deinit(list, 1) }

  /// Whether the file is still the one that was read.
  func isCurrent(_ path: String?) -> Bool { FileSignature(path ?? Self.systemFile) == signature }
}

/// The stores that were used lately; their files are followed.
///
/// Confined to the prober's thread.
final class TrustStores {
  private var kept: [String: TrustStore] = [:]

  func store(_ path: String?) throws(TrustStore.Failure) -> TrustStore {
    if let known = kept[path ?? ""], known.isCurrent(path) { return known }
    let new = try TrustStore(path)
    if kept.count >= Limits.trustStores { kept.removeAll() }
    kept[path ?? ""] = new
    return new
  }
}
