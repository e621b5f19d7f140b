internal import Credentials
internal import EventLoop
internal import ReachabilityModel

/// Whether a request may use its route: by the listener's rules, by its token, and, for more than a read, by the origin
/// of the page that caused it.
enum RequestAuthorization {
  /// Authorizes a request.
  ///
  /// - Returns: the id of the token. Where an active request requires none, that of a valid one is returned.
  /// - Throws: the problem that refuses the request.
  @discardableResult
  static func authorize(
    _ request: HTTPRequest, _ scope: AccessScope?, listener: Int, _ policy: AccessPolicy, _ origins: OriginPolicy
  ) throws(Problem) -> String? {
    guard let scope else { return nil }
    if scope.isActive { try origins.rejectForeignOrigin(request) }
    guard requiresToken(request, scope, listener, policy) else {
      return scope.isActive ? token(request, policy)?.id : nil
    }
    guard policy.hasToken(for: scope) else { throw noTokenConfigured(scope) }
    guard bearer(request) != nil else {
      throw challenge(.unauthorized, scope, nil, "a token with the scope \(scope.rawValue) is required")
    }
    guard let token = token(request, policy) else {
      throw challenge(.unauthorized, scope, "invalid_token", "the token is unknown or expired")
    }
    guard token.grants(scope) else {
      let has = token.scopes.map(\.rawValue).sorted().joined(separator: ", ")
      throw challenge(
        .forbidden, scope, "insufficient_scope",
        "the token \(token.id) has the scope \(has); required is \(scope.rawValue)")
    }
    return token.id
  }

  /// The time of CLOCK_REALTIME, which the expiry of tokens means.
  private static var now: Timestamp { Timestamp(microseconds: SystemClock.realtime / 1_000) }

  /// Returns the configured token of a request; nil for none, and for an unknown or expired one.
  private static func token(_ request: HTTPRequest, _ policy: AccessPolicy) -> AccessToken? {
    bearer(request).flatMap { BearerToken($0) }.flatMap { policy.token(for: $0, at: now) }
  }

  static func requiresToken(_ request: HTTPRequest, _ scope: AccessScope?, _ listener: Int, _ policy: AccessPolicy)
    -> Bool
  {
    guard let scope else { return false }
    return policy.rules(of: listener).rule(for: scope, isLocal: request.isLoopbackListener) == .token
  }

  /// Returns whether an authorized request is still authorized, for a stream: its token may expire, and the rules change.
  static func permission(
    _ request: HTTPRequest, _ scope: AccessScope, listener: Int, _ access: AccessControl
  ) -> @Sendable () -> Bool {
    let token = bearer(request).flatMap { BearerToken($0) }
    let isLocal = request.isLoopbackListener
    return {
      let policy = access.policy
      guard policy.rules(of: listener).rule(for: scope, isLocal: isLocal) != .open else { return true }
      return token.flatMap { policy.token(for: $0, at: now) }?.grants(scope) == true
    }
  }

  /// Returns what makes a long poll end when its request is not permitted any more, also because its route is not open any more.
  static func revocation(
    _ request: HTTPRequest, _ declaration: RouteDeclaration?, listener: Int, _ environment: RouterEnvironment,
    _ requestID: String
  ) -> @Sendable (HTTPWait) -> HTTPWait {
    guard let declaration, declaration.scope != nil else { return { $0 } }
    let (access, origins) = (environment.access, environment.settings.origins)
    return { wait in
      access.revocable(wait) {
        do throws(Problem) {
          let policy = access.policy
          try authorize(request, declaration.scope(under: policy), listener: listener, policy, origins)
          return nil
        } catch {
          return error.response(requestID: requestID)
        }
      }
    }
  }

  /// Returns the credentials of `Authorization` with the scheme `Bearer`; nil without them (RFC 6750 §2.1).
  private static func bearer(_ request: HTTPRequest) -> String? {
    guard let field = request.headers["Authorization"] else { return nil }
    let parts = field.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return String(parts[1].drop { $0 == " " })
  }

  /// Refuses a request when no configured token could authorize it: a challenge would be misleading.
  private static func noTokenConfigured(_ scope: AccessScope) -> Problem {
    let setting = scope == .read ? "access.reads: open" : "access.checks: open"
    let token = "configure a token made by `reachd token create --scope \(scope.rawValue)`"
    return Problem(
      .forbidden,
      "no configured token has the scope \(scope.rawValue); \(token)" + (scope == .admin ? "" : ", or set \(setting)"))
  }

  /// Returns a refusal with its challenge (RFC 6750 §3).
  private static func challenge(_ code: Problem.Code, _ scope: AccessScope, _ error: String?, _ detail: String)
    -> Problem
  {
    let reason = error.map { ", error=\"\($0)\"" } ?? ""
    return Problem(
      code, detail, headers: ["WWW-Authenticate": "Bearer realm=\"reachd\"\(reason), scope=\"\(scope.rawValue)\""])
  }
}
