/// What foreign web pages may do through a user's browser (the Fetch standard, Fetch Metadata, CORS).
///
/// The browser itself prevents them from reading, unless their origin is allowed; `*` never is. Requests that do more
/// than read are refused here: the browser's check comes after the response, when the packets are sent.
struct OriginPolicy: Sendable {
  /// Origins whose pages may send requests, exactly as browsers send them: `https://dash.example:8443`.
  var allowed: Set<String> = []

  private func allowedOrigin(_ request: HTTPRequest) -> String? {
    guard !allowed.isEmpty, let origin = request.headers["Origin"], allowed.contains(origin) else { return nil }
    return origin
  }

  /// Refuses a request that a foreign page makes a browser send.
  ///
  /// Browsers send the relation of the two sites where they trust the address (loopback, https), and a page's origin
  /// with every request but simple reads. A `Referer` is no evidence: the page decides whether it is sent.
  func rejectForeignOrigin(_ request: HTTPRequest) throws(Problem) {
    if allowedOrigin(request) != nil { return }
    let site = request.headers["Sec-Fetch-Site"]
    let isCrossSite = site == "cross-site" || site == "same-site"
    guard isCrossSite || isForeignOrigin(request) else { return }
    throw Problem(
      .forbidden, "cross-origin request from a web page; add its origin to allowedOrigins to allow it")
  }

  private func isForeignOrigin(_ request: HTTPRequest) -> Bool {
    guard let origin = request.headers["Origin"] else { return false }
    guard let scheme = origin.firstRange(of: "://") else { return true }
    return origin[scheme.upperBound...] != request.headers["Host"] ?? ""
  }

  /// Returns the headers that let a page of an allowed origin read the response; empty for other requests.
  func headers(_ request: HTTPRequest) -> HTTPHeaders {
    guard let origin = allowedOrigin(request) else { return [:] }
    return [
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Expose-Headers":
        "ETag, Last-Event-ID, Link, Location, Preference-Applied, Retry-After, WWW-Authenticate, X-Request-Id",
    ]
  }

  /// Returns the headers of the response to a CORS preflight request.
  func preflight(_ request: HTTPRequest, allow: String) -> HTTPHeaders {
    guard let origin = allowedOrigin(request) else { return [:] }
    var headers: HTTPHeaders = ["Access-Control-Allow-Origin": origin]
    guard request.headers["Access-Control-Request-Method"] != nil else { return headers }
    headers["Access-Control-Allow-Methods"] = allow
    headers["Access-Control-Allow-Headers"] =
      "Accept, Authorization, Cache-Control, Content-Type, If-Match, If-None-Match, Last-Event-ID, Prefer, Traceparent, X-Request-Id"
    headers["Access-Control-Max-Age"] = "600"
    if request.headers["Access-Control-Request-Private-Network"] == "true" {
      headers["Access-Control-Allow-Private-Network"] = "true"
    }
    return headers
  }
}

/// The header fields of every response.
///
/// The shared documents are built with them, so they add no cost there.
package enum SecurityHeaders {
  /// Returns `fields` with the headers that make browsers treat a response as data only.
  package static func merged(into fields: HTTPHeaders) -> HTTPHeaders {
    var headers = fields
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Content-Security-Policy"] = "default-src 'none'; frame-ancestors 'none'"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return headers
  }
}
