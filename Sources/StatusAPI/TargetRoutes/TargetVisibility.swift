package import HTTPRouting
package import NetworkReachability

/// How much of a registered target's URL a client may see.
///
/// It is determined when a response or its tag is made, also of a request that has waited: a token that was revoked
/// meanwhile does not show what was changed since.
package enum TargetVisibility: Hashable, Sendable {
  /// The whole URL, for clients that may register targets.
  case full
  /// The URL without the values of its query.
  case redacted

  /// Applies the rules of the routes that need `targets:write`: listener, token, and origin of a browser's page.
  package init(_ request: RoutedRequest) { self = request.isPermitted(.targetsWrite) ? .full : .redacted }

  /// The target as this client may see it.
  package func text(_ target: CheckTarget) -> String { self == .full ? target.description : target.redacted }
}
