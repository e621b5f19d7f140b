internal import EmbeddedHTTPServer

/// What foreign web pages may do with a visitor's browser (the Fetch standard, Fetch Metadata, CORS).
///
/// Reading is closed to them by the browser itself, unless their origin is allowed; `*` never is. For what does more
/// than read that is too late, for the packets would be sent already: it is refused.
struct OriginPolicy: Sendable {
  /// Origins whose pages may ask, exactly as browsers send them: `https://dash.example:8443`.
  var allowed: Set<String> = []

  /// The request's own origin, when its pages may ask.
  private func allowedOrigin(_ request: HTTPRequest) -> String? {
    guard !allowed.isEmpty, let origin = request.headers["Origin"], allowed.contains(origin) else { return nil }
    return origin
  }

  /// Refuses what a foreign page has a browser send.
  ///
  /// Browsers tell the relation of the two sites where they trust the address (loopback, https), and a page's origin
  /// with every request but the plainest reads. A `Referer` proves nothing: the page decides whether it is sent.
  func rejectForeignOrigin(_ request: HTTPRequest) throws(Problem) {
    if allowedOrigin(request) != nil { return }
    let site = request.headers["Sec-Fetch-Site"]
    let isCrossSite = site == "cross-site" || site == "same-site"
    guard isCrossSite || isForeignOrigin(request) else { return }
    throw Problem(
      .forbidden, "A page of another origin asks for this; add its origin to allowedOrigins if it may.")
  }

  private func isForeignOrigin(_ request: HTTPRequest) -> Bool {
    guard let origin = request.headers["Origin"] else { return false }
    guard let scheme = origin.firstRange(of: "://") else { return true }
    return origin[scheme.upperBound...] != request.headers["Host"] ?? ""
  }

  /// What lets a page of an allowed origin read the answer; empty for everybody else.
  func headers(_ request: HTTPRequest) -> HTTPHeaders {
    guard let origin = allowedOrigin(request) else { return [:] }
    return [
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Expose-Headers":
        "ETag, Last-Event-ID, Link, Location, Preference-Applied, Retry-After, WWW-Authenticate, X-Request-Id",
    ]
  }

  /// What answers a browser's question before the request itself.
  func preflight(_ request: HTTPRequest, allow: String) -> HTTPHeaders {
    guard let origin = allowedOrigin(request) else { return [:] }
    var headers: HTTPHeaders = ["Access-Control-Allow-Origin": origin]
    guard request.headers["Access-Control-Request-Method"] != nil else { return headers }
    headers["Access-Control-Allow-Methods"] = allow
    headers["Access-Control-Allow-Headers"] =
      "Accept, Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, Prefer, Traceparent, X-Request-Id"
    headers["Access-Control-Max-Age"] = "600"
    if request.headers["Access-Control-Request-Private-Network"] == "true" {
      headers["Access-Control-Allow-Private-Network"] = "true"
    }
    return headers
  }
}

/// The header fields that every answer has.
///
/// They cost the shared documents nothing: those are made with them.
enum SecurityHeaders {
  /// `fields` and what keeps browsers from taking an answer for anything but data.
  static func merged(into fields: HTTPHeaders) -> HTTPHeaders {
    var headers = fields
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Content-Security-Policy"] = "default-src 'none'; frame-ancestors 'none'"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    return headers
  }
}
