internal import EmbeddedHTTPServer
internal import NetworkReachability
internal import ReachabilityChecks

/// One resource and method: what it is called, what its query may hold, what it can be represented as.
struct Route: Sendable {
  var method = "GET"
  /// The path with its parameters in braces: `/hosts/{host}`.
  var pattern: String
  /// The names that the query may hold; anything else is refused, so that a typing error is not silently ignored.
  var parameters: Set<String> = []
  /// Those of them that may be given more than once; a route asks the request for all of their values.
  var repeatable: Set<String> = []
  /// The right that it needs; nil for what is open to everybody, whatever is configured.
  var scope: Scope? = .read
  /// Representations, the usual one first.
  var mediaTypes: [MediaType]
  /// A 200 depends on the documents, the settings and the request's head alone, and stands until one of them changes.
  var isCacheable = false
  /// One line for the index.
  var summary: String
  var handle: @Sendable (RequestContext) throws(Problem) -> HTTPReply

  /// The parameters of a path that this pattern matches; nil when it does not.
  func match(_ segments: [Substring]) -> [String: String]? {
    let expected = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    guard expected.count == segments.count else { return nil }
    var found: [String: String] = [:]
    for (expected, segment) in zip(expected, segments) {
      if expected.hasPrefix("{") {
        found[String(expected.dropFirst().dropLast())] = String(segment)
      } else if expected != segment {
        return nil
      }
    }
    return found
  }
}

/// A request that has found its route.
struct RequestContext: Sendable {
  var request: HTTPRequest
  var service: ServiceContext
  /// The number of the listener that it came in by, which the access rules go by.
  var listener: Int
  /// Path parameters, percent-decoded.
  var path: [String: String]
  var query: [String: String]
  var media: MediaType
  var requestID: String
  /// The account that targets and checks of this request are charged to.
  var account = TargetAccount.anonymous

  /// Who is counted as one client: an IPv4 address, or an IPv6 network of 64 bits.
  ///
  /// Of such a network everybody has all addresses (RFC 6177). The peer has a port, too: `10.0.0.5:4711`,
  /// `[fd00::5]:4711`.
  var client: String {
    if request.isUnixListener { return request.peer }
    let host = request.peer.lastIndex(of: ":").map { String(request.peer[..<$0]) } ?? request.peer
    guard host.hasPrefix("["), !host.lowercased().hasPrefix("[::ffff:"),
      let address = IPAddress(String(host.dropFirst().dropLast())), address.family == .ipv6
    else { return host }
    return IPPrefix(address, length: 64).block.description
  }

  /// The problem as an answer to this request.
  func answer(_ problem: Problem) -> HTTPResponse { problem.response(requestID: requestID) }
}
