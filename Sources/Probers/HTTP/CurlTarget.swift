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

  /// Creates the URL.
  ///
  /// - Parameters:
  ///   - target: the target.
  ///   - name: the host for TLS; nil for that of the target.
  init(_ target: CheckTarget, tlsName name: ReachabilityTarget?) {
    guard target.scheme == .https, let name else {
      (url, host) = (target, nil)
      return
    }
    var url = target
    url.host = name
    self.url = url
    host = Self.authority(target)
  }

  /// The status codes that redirect a client by `Location` (RFC 9110 §15.4); 300 and 304 do not.
  static let redirects = [301, 302, 303, 307, 308]

  /// A user and a password in a URL.
  struct Login {
    var user: String
    var password: String
  }

  struct Redirect {
    /// The whole URL, without user information.
    var url: String
    /// The user information of the URL (RFC 3986 §3.2.1); nil if it has none.
    var login: Login?
  }

  /// The target of a redirect as a whole URL (RFC 3986 §5.2).
  ///
  /// A `Location` that cannot be parsed is returned unchanged: the code that parses the URL reports the error.
  static func redirect(_ location: String, from target: CheckTarget) -> Redirect {
    guard let url = unsafe curl_url() else { return Redirect(url: location) }
    defer { unsafe curl_url_cleanup(url) }
    let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_ALLOW_SPACE)
    guard unsafe curl_url_set(url, CURLUPART_URL, target.description, flags) == CURLUE_OK,
      unsafe curl_url_set(url, CURLUPART_URL, location, flags) == CURLUE_OK
    else { return Redirect(url: location) }
    let user = unsafe part(url, CURLUPART_USER, UInt32(CURLU_URLDECODE))
    let password = unsafe part(url, CURLUPART_PASSWORD, UInt32(CURLU_URLDECODE))
    unsafe curl_url_set(url, CURLUPART_USER, nil, 0)
    unsafe curl_url_set(url, CURLUPART_PASSWORD, nil, 0)
    guard let text = unsafe part(url, CURLUPART_URL, 0) else { return Redirect(url: location) }
    guard user != nil || password != nil else { return Redirect(url: text) }
    return Redirect(url: text, login: Login(user: user ?? "", password: password ?? ""))
  }

  /// A part of a URL; nil if it has none.
  private static func part(_ url: OpaquePointer, _ part: CURLUPart, _ flags: UInt32) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(url, part, &text, flags) == CURLUE_OK, let text = unsafe text else { return nil }
    defer { unsafe curl_free(text) }
    return unsafe String(cString: text)
  }

  /// Host and port as in the target's text.
  private static func authority(_ target: CheckTarget) -> String {
    String(target.description.dropFirst("\(target.scheme.rawValue)://".count).prefix { $0 != "/" && $0 != "?" })
  }
}
