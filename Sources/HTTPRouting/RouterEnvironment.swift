internal import Locks
package import Logging

/// The settings of a router that can change while it is used.
///
/// A class, because every request reads the values more than once.
package final class RouterSettings: Sendable {
  /// Names that `Host` may carry besides literals and `localhost`, in lower case.
  let allowedHosts: [String]
  /// Which foreign web pages may send requests.
  let origins: OriginPolicy
  /// The log of responses; nil disables it.
  let accessLog: Logger?

  package init(allowedHosts: [String], allowedOrigins: [String], accessLog: Logger?) {
    self.allowedHosts = allowedHosts.map { $0.lowercased() }
    origins = OriginPolicy(allowed: Set(allowedOrigins))
    self.accessLog = accessLog
  }
}

/// What the requests of all routes share: the settings, the access rules, the queue of documents, the counters.
package final class RouterEnvironment: Sendable {
  /// Which client may use which routes.
  package let access: AccessControl
  /// Makes the responses whose cost grows with the number of targets.
  package let documents = DocumentQueue()
  let requests: RequestCounters
  /// Advances with every change of what a cached response depends on: the documents, the settings, the access rules.
  let generation: ResponseCacheGeneration
  /// Whether the responses of the routes with ``RouteDeclaration/Queueing/whenLarge`` are made on the queue.
  let documentsAreLarge: @Sendable () -> Bool
  private let current: Locked<RouterSettings>

  package init(
    _ settings: RouterSettings, _ policy: AccessPolicy, _ generation: ResponseCacheGeneration,
    _ requests: RequestCounters, documentsAreLarge: @escaping @Sendable () -> Bool
  ) {
    current = Locked(settings)
    access = AccessControl(policy, generation: generation)
    self.generation = generation
    self.requests = requests
    self.documentsAreLarge = documentsAreLarge
  }

  var settings: RouterSettings { current.withLock(\.self) }

  /// Replaces the settings; what also depends on settings changes before.
  package func change(to settings: RouterSettings) {
    current.withLock { $0 = settings }
    generation.advance()
  }

  /// Converts a refusal by the HTTP server into a problem document with the headers of every response.
  package func refusal(_ refusal: RequestRefusal, of request: HTTPRequest?) -> HTTPResponse {
    var response = Problem(refusal).response(requestID: request.map(RequestID.of) ?? RequestID.generate())
    guard let request else { return response }
    for field in settings.origins.headers(request) { response.headers[field.name] = field.value }
    return response
  }

  /// Counts a response, and logs it if the access log is enabled; every server calls it.
  package func answered(_ answer: HTTPAccess) {
    requests.count(answer)
    if let log = settings.accessLog { AccessLog.write(answer, to: log) }
  }
}
