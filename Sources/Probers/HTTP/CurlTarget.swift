internal import CCurl
internal import ReachabilityModel

/// The URL and the `Host` field for libcurl.
///
/// libcurl takes the name for the TLS handshake from the URL. If the options contain another name, the URL contains
/// that name, and the field `Host` contains the target's own.
struct CurlTarget {
  /// The target that libcurl receives.
  let url: CheckTarget
  /// The field `Host`, if it differs from the URL.
  let host: String?
  private let target: CheckTarget

  init(_ target: CheckTarget, _ options: HTTPOptions, isFirst: Bool) {
    self.target = target
    guard isFirst, target.scheme == .https, let name = options.tls.serverName else {
      (url, host) = (target, nil)
      return
    }
    var url = target
    url.host = ReachabilityTarget(.name(name))
    self.url = url
    host = Self.authority(target)
  }

  /// The status codes that redirect a client by `Location` (RFC 9110 §15.4); 300 and 304 do not.
  static let redirects = [301, 302, 303, 307, 308]

  /// The target of a redirect as a whole URL (RFC 3986 §5.2).
  ///
  /// A `Location` that cannot be parsed is returned unchanged: the code that parses the URL reports the error.
  func redirect(_ location: String) -> String {
    guard let url = unsafe curl_url() else { return location }
    defer { unsafe curl_url_cleanup(url) }
    let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_ALLOW_SPACE)
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_set(url, CURLUPART_URL, target.description, flags) == CURLUE_OK,
      unsafe curl_url_set(url, CURLUPART_URL, location, flags) == CURLUE_OK,
      unsafe curl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK, let text = unsafe text
    else { return location }
    defer { unsafe curl_free(text) }
    return unsafe String(cString: text)
  }

  /// Host and port as in the target's text.
  private static func authority(_ target: CheckTarget) -> String {
    String(target.description.dropFirst("\(target.scheme.rawValue)://".count).prefix { $0 != "/" && $0 != "?" })
  }
}
