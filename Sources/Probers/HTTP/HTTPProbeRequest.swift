internal import ReachabilityModel

/// The request to a server: first as the options define it, and after a redirect reduced by RFC 9110 §15.4.
struct HTTPProbeRequest {
  private(set) var method: String
  private(set) var fields: [HTTPOptions.Field]
  private(set) var body: String?

  init(_ options: HTTPOptions, hostname: String? = nil) {
    method = options.method
    fields = options.headers
    if let hostname, self["Host"] == nil { fields.append(HTTPOptions.Field(name: "Host", value: hostname)) }
    body = options.method == "HEAD" ? nil : options.body
  }

  /// The body to send: empty for methods whose servers expect one (RFC 9110 §8.6), nil if nothing announces a body.
  var content: String? { body ?? (["POST", "PUT", "PATCH"].contains(method) ? "" : nil) }

  /// The value of a field; nil if there is none.
  subscript(name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }

  /// The host of the field `Host`, without its port; nil if there is none that could be the name of a certificate.
  var host: ReachabilityTarget? {
    guard let field = self["Host"], let target = try? CheckTarget("http://\(field)/") else { return nil }
    return target.host
  }

  func fields(cookies: String?) -> [HTTPOptions.Field] {
    var all = fields
    guard let cookies else { return all }
    if let place = all.firstIndex(where: { $0.name.lowercased() == "cookie" }) {
      all[place].value += "; \(cookies)"
    } else {
      all.append(HTTPOptions.Field(name: "Cookie", value: cookies))
    }
    return all
  }

  /// Changes the request for a redirect; false if the redirect must not be followed, because a body is for one server
  /// only.
  ///
  /// The caller's header fields are for one origin too: no other one receives them, except that `Host` is for one host. A request that becomes GET loses
  /// those that describe its body, as in browsers (Fetch, "HTTP-redirect fetch").
  mutating func redirect(_ status: Int, toSameOrigin isSameOrigin: Bool, sameHost isSameHost: Bool) -> Bool {
    if status == 307 || status == 308 {
      guard isSameOrigin || body == nil else { return false }
    } else {
      if method != "HEAD" { method = "GET" }
      body = nil
      fields.removeAll { $0.name.lowercased().hasPrefix("content-") }
    }
    if !isSameOrigin { fields.removeAll { !isSameHost || $0.name.lowercased() != "host" } }
    return true
  }
}
