internal import ReachabilityModel

/// The request to a server: first as the options define it, and after a redirect reduced by RFC 9110 §15.4.
struct HTTPProbeRequest {
  private(set) var method: String
  private(set) var fields: [HTTPOptions.Field]
  private(set) var body: String?

  init(_ options: HTTPOptions) {
    method = options.method
    fields = options.headers
    body = options.method == "HEAD" ? nil : options.body
  }

  /// Changes the request for a redirect; false if the redirect must not be followed, because a body is for one server
  /// only.
  ///
  /// The caller's header fields are for one origin too: no other one receives them. A request that becomes GET loses
  /// those that describe its body, as in browsers (Fetch, "HTTP-redirect fetch").
  mutating func redirect(_ status: Int, toSameOrigin isSameOrigin: Bool) -> Bool {
    if status == 307 || status == 308 {
      guard isSameOrigin || body == nil else { return false }
    } else {
      if method != "HEAD" { method = "GET" }
      body = nil
      fields.removeAll { $0.name.lowercased().hasPrefix("content-") }
    }
    if !isSameOrigin { fields = [] }
    return true
  }
}
