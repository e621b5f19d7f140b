internal import ReachabilityModel

/// What is asked of a server: at first what the recipe says, and after a redirect what is left of it (RFC 9110 §15.4).
struct OutgoingRequest {
  private(set) var method: String
  private(set) var fields: [HTTPOptions.Field]
  private(set) var body: String?

  init(_ options: HTTPOptions) {
    method = options.method
    fields = options.headers
    body = options.method == "HEAD" ? nil : options.body
  }

  /// Becomes what a redirect makes of it; false if the redirect may not be followed, because a body is for one server.
  ///
  /// The caller's header fields were written for the first server, too: no other one gets them.
  mutating func redirect(_ status: Int, toSameOrigin isSameOrigin: Bool) -> Bool {
    if status == 307 || status == 308 {
      if isSameOrigin { return true }
      guard body == nil else { return false }
    } else {
      if method != "HEAD" { method = "GET" }
      body = nil
    }
    fields = []
    return true
  }
}
