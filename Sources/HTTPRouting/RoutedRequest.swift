internal import ReachabilityModel

/// A request that a router has accepted for a route.
package struct RoutedRequest: Sendable {
  package let request: HTTPRequest
  /// Path parameters, percent-decoded.
  package let path: [String: String]
  package let query: [String: String]
  package let media: MediaType
  package let requestID: String
  /// The id of the token; nil for none, and for a read that needs none.
  package let token: String?
  /// The number of the listener that accepted the connection; it selects the access rules.
  let listener: Int
  let environment: RouterEnvironment

  /// The unit that counts as one client: an IPv4 address, or an IPv6 network of 64 bits.
  ///
  /// A client usually controls all addresses of such a network (RFC 6177). The peer includes a port: `10.0.0.5:4711`,
  /// `[fd00::5]:4711`.
  package var client: String {
    if request.isUnixListener { return request.peer }
    let host = request.peer.lastIndex(of: ":").map { String(request.peer[..<$0]) } ?? request.peer
    guard host.hasPrefix("["), !host.lowercased().hasPrefix("[::ffff:"),
      let address = IPAddress(String(host.dropFirst().dropLast())), address.family == .ipv6
    else { return host }
    return IPPrefix(address, length: 64).block.description
  }

  package func answer(_ problem: Problem) -> HTTPResponse { problem.response(requestID: requestID) }

  /// Whether the request may use routes with this scope: by the listener's rules, its token, and the origin of its page.
  package func isPermitted(_ scope: AccessScope) -> Bool {
    do throws(Problem) {
      try RequestAuthorization.authorize(
        request, scope, listener: listener, environment.access.policy, environment.settings.origins)
      return true
    } catch {
      return false
    }
  }

  /// Returns a reply that is made on the queue of documents, or 503 when too many requests wait.
  package func queued(_ make: @escaping @Sendable () throws(Problem) -> HTTPReply) -> HTTPReply {
    environment.documents.reply(client: client, requestID: requestID, make)
  }

  /// The id of the last event that the client has received; nil for none, which an EventSource also sends as an empty id
  /// (HTML §9.2.3).
  ///
  /// A browser sends the header when it reconnects, so the header is newer than the query.
  package var lastEventID: String? {
    [request.headers["Last-Event-ID"], query["lastEventId"]].compactMap(\.self).first { !$0.isEmpty }
  }
}
