/// What a router enforces before it calls a route: the method, the path, the parameters, the scope and the representations.
package struct RouteDeclaration: Sendable {
  package var method: String
  /// The path with its parameters in braces: `/hosts/{host}`.
  package var pattern: String
  /// The names that the query may contain; other names are refused, so that a typing error is not silently ignored.
  package var parameters: Set<String>
  /// The parameters that may be repeated; a route reads all of their values from the request.
  package var repeatable: Set<String>
  /// The scope that the route requires; nil for a route that is always open, independent of the configuration.
  package var scope: AccessScope?
  /// The representations, the default first.
  package var mediaTypes: [MediaType]
  /// The setting that can open the route; nil for none.
  package var opening: Opening?
  /// Whether a 200 depends only on the documents, the settings and the request's head, and is valid until they change.
  package var isCacheable: Bool
  /// Whether responses are compressed for clients that accept it.
  package var isCompressible: Bool
  /// When responses are made on the ``DocumentQueue``.
  package var queueing: Queueing
  /// The summary for the index, in one line.
  package var summary: String

  /// A setting that opens a route to clients without a token where other reads require one.
  package enum Opening: Sendable {
    /// `access.badges`, and `access.gates`.
    case badges, gates
  }

  /// When responses are made on the ``DocumentQueue``, because their cost grows with the number of targets.
  package enum Queueing: Sendable {
    case never
    /// When documents are large; with few targets, the change of threads would cost more than the response.
    case whenLarge
    case always
  }

  /// The scope that the route requires under a policy; nil when the policy opens it.
  func scope(under policy: AccessPolicy) -> AccessScope? {
    opening.map(policy.opened.contains) == true ? nil : scope
  }

  /// Returns the parameters of a path that matches the pattern, otherwise nil.
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
