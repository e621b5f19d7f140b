package import EmbeddedHTTPServer
package import NetworkReachability
internal import ReachabilityChecks

/// One resource and method, with its query parameters and representations.
package struct APIRoute: Sendable {
  var method: String
  /// The path with its parameters in braces: `/hosts/{host}`.
  var pattern: String
  /// The names that the query may contain; other names are refused, so that a typing error is not silently ignored.
  var parameters: Set<String>
  /// The parameters that may be repeated; a route reads all of their values from the request.
  var repeatable: Set<String>
  /// The scope that the route requires; nil for a route that is always open, independent of the configuration.
  var scope: AccessScope?
  /// The representations, the default first.
  var mediaTypes: [MediaType]
  /// Whether the setting `access.badges` can open the route.
  var isBadge: Bool
  /// Whether a 200 depends only on the documents, the settings and the request's head, and is valid until they change.
  var isCacheable: Bool
  /// Whether responses are compressed for clients that accept it.
  var isCompressible: Bool
  /// When responses are made on the ``DocumentQueue``.
  var queueing: Queueing
  /// The summary for the index, in one line.
  var summary: String
  var handle: @Sendable (RequestContext) throws(Problem) -> HTTPReply

  package init(
    method: String = "GET", pattern: String, parameters: Set<String> = [], repeatable: Set<String> = [],
    scope: AccessScope? = .read, mediaTypes: [MediaType], isBadge: Bool = false, isCacheable: Bool = false,
    isCompressible: Bool = false, queueing: Queueing = .never, summary: String,
    handle: @escaping @Sendable (RequestContext) throws(Problem) -> HTTPReply
  ) {
    self.method = method
    self.pattern = pattern
    self.parameters = parameters
    self.repeatable = repeatable
    self.scope = scope
    self.mediaTypes = mediaTypes
    self.isBadge = isBadge
    self.isCacheable = isCacheable
    self.isCompressible = isCompressible
    self.queueing = queueing
    self.summary = summary
    self.handle = handle
  }

  /// When responses are made on the ``DocumentQueue``, because their cost grows with the number of targets.
  package enum Queueing: Sendable {
    case never
    /// With more than ``DocumentQueue/directTargets``; with few, the change of threads would cost more than the response.
    case manyTargets
    case always
  }

  /// Returns the parameters of a path that matches this pattern, otherwise nil.
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

/// A request with its route.
package struct RequestContext: Sendable {
  package var request: HTTPRequest
  var service: ServiceContext
  /// The number of the listener that accepted the connection; it selects the access rules.
  var listener: Int
  /// Path parameters, percent-decoded.
  package var path: [String: String]
  package var query: [String: String]
  package var media: MediaType
  var requestID: String
  /// The account for the targets and checks of this request.
  var account = TargetAccount.anonymous

  /// The unit that counts as one client: an IPv4 address, or an IPv6 network of 64 bits.
  ///
  /// A client usually controls all addresses of such a network (RFC 6177). The peer includes a port: `10.0.0.5:4711`,
  /// `[fd00::5]:4711`.
  var client: String {
    if request.isUnixListener { return request.peer }
    let host = request.peer.lastIndex(of: ":").map { String(request.peer[..<$0]) } ?? request.peer
    guard host.hasPrefix("["), !host.lowercased().hasPrefix("[::ffff:"),
      let address = IPAddress(String(host.dropFirst().dropLast())), address.family == .ipv6
    else { return host }
    return IPPrefix(address, length: 64).block.description
  }

  /// The modules that targets may name besides the built-in ones.
  package var checkModules: [CheckModule] { service.targets.modules }

  /// Returns the problem as a response to this request.
  package func answer(_ problem: Problem) -> HTTPResponse { problem.response(requestID: requestID) }
}
