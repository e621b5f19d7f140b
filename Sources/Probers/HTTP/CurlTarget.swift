internal import CCurl
internal import ReachabilityModel

/// What libcurl is told about whom it talks to, where that is not the target's own name.
///
/// libcurl takes the name of the TLS handshake from the URL: where a recipe gives another, that stands in the URL, and the
/// target's own in the field `Host`.
struct CurlTarget {
  /// What libcurl takes for the target.
  let url: CheckTarget
  /// The field `Host`, if it is not what the URL says.
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

  /// The status codes that send a client on by `Location` (RFC 9110 §15.4); 300 and 304 do not.
  static let redirects = [301, 302, 303, 307, 308]

  /// Where an answer leads (RFC 3986 §5.2): its `Location` as a whole URL.
  ///
  /// In one that cannot be read nothing is changed: whoever reads it says so.
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

  /// Host and port as the target's text has them.
  private static func authority(_ target: CheckTarget) -> String {
    String(target.description.dropFirst("\(target.scheme.rawValue)://".count).prefix { $0 != "/" && $0 != "?" })
  }
}
