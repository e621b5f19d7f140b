internal import CCurl

/// libcurl as this process has loaded it.
public enum CurlLibrary {
  /// Why checks of `https` targets are not possible; nil if they are.
  ///
  /// They verify the certificate in libcurl's TLS session, which is one of GnuTLS only if libcurl was built with it.
  /// Distributions have several builds of libcurl.
  public static let tlsProblem: String? = {
    // Before any other call of libcurl. A build with several TLS libraries uses GnuTLS from now on.
    guard curl_global_sslset(CURLSSLBACKEND_GNUTLS, nil, nil) != CURLSSLSET_OK else { return nil }
    let version = unsafe curl_version_info(CURLVERSION_FIRST)?.pointee.ssl_version
    let name = unsafe version.map { unsafe String(cString: $0) } ?? "no TLS library"
    return "libcurl uses \(name), but checks of https targets need one that uses GnuTLS; "
      + "build reachd with Debian's package libcurl4-gnutls-dev"
  }()

  /// Whether libcurl could be initialized, which is done once and before the first handle.
  package static var isInitialized: Bool { globalCode == CURLE_OK }

  static let globalCode: CURLcode = {
    _ = tlsProblem
    return curl_global_init(Int(CURL_GLOBAL_ALL))
  }()

  /// Makes the TLS session of a transfer end with an error instead of a renegotiation, in which libcurl would wait without a
  /// limit of time.
  package static func refuseRenegotiation(of handle: UnsafeMutableRawPointer) {
    if let session = unsafe ccurl_tls_session(handle) { unsafe TLSPeerLimits.watchHandshake(OpaquePointer(session)) }
  }

  /// Returns what an error of libcurl means that a limit of ours has caused; nil for another error.
  package static func refusal(message: String) -> String? { TLSRefusal(message: message)?.message }
}
