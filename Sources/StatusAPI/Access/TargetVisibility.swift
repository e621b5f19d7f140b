internal import NetworkReachability

/// How much of a registered target's URL one caller sees.
///
/// It is decided once a request, as the right to the route is; an answer that waits keeps it.
enum TargetVisibility: Hashable, Sendable {
  /// The whole URL: for callers that may register targets.
  case full
  /// The URL without the values of its query.
  case redacted

  /// By the same rules as the routes that need `targets:write`: listener, token, and origin of a browser's page.
  init(_ context: RequestContext) {
    do throws(Problem) {
      try RequestAuthorization.authorize(
        context.request, .targetsWrite, listener: context.listener, context.service.access.policy,
        context.service.origins)
      self = .full
    } catch {
      self = .redacted
    }
  }

  /// The target as this caller sees it.
  func text(_ target: CheckTarget) -> String { self == .full ? target.description : target.redacted }
}
