internal import CGnuTLS

/// A record that GnuTLS has refused after the handshake.
enum TLSRecordError {
  /// Whether libcurl's message names such an error, and not the end of the connection.
  static func isNamed(in message: String) -> Bool {
    guard message.contains("GnuTLS recv error") else { return false }
    let ends = [GNUTLS_E_PREMATURE_TERMINATION, GNUTLS_E_PULL_ERROR, GNUTLS_E_PUSH_ERROR, GNUTLS_E_INVALID_SESSION]
    return !ends.contains { message.contains("(\($0))") }
  }
}
