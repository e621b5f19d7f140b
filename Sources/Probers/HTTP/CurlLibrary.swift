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

  /// libcurl's one-time initialization, which must happen before any handle and only once.
  static let globalCode: CURLcode = {
    _ = tlsProblem
    return curl_global_init(Int(CURL_GLOBAL_ALL))
  }()
}
