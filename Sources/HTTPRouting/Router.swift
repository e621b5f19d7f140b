internal import EventStreams
internal import ReachabilityModel

/// Finds the route of a request and converts every refusal into a problem document; it uses no sockets.
package struct Router: Sendable {
  package let environment: RouterEnvironment
  /// The routes, in the order of the index.
  package let routes: [RouteDeclaration]
  private let index: RouteIndex

  /// Creates a router of routes, which may be those of several services.
  package init(_ environment: RouterEnvironment, _ routes: [BoundRoute]) {
    self.environment = environment
    self.routes = routes.map(\.declaration)
    index = RouteIndex(routes)
  }

  /// Handles a request on any thread, without blocking.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - listener: the number of the listener that accepted the connection; it selects the access rules.
  /// - Returns: the response, or a promise of it.
  package func handle(_ request: HTTPRequest, listener: Int = 0) -> HTTPReply {
    let requestID = RequestID.of(request)
    // Read the generation before anything that it covers.
    let number = environment.generation.current
    do throws(Problem) {
      try HostHeaderPolicy.enforce(request, allowed: environment.settings.allowedHosts)
    } catch {
      return .now(finish(request, "", requestID)(error.response(requestID: requestID)))
    }
    let matches = request.path == "*" ? [] : index.matches(request.path)
    // Requests are counted by route: clients choose the paths, so their number is unbounded.
    let label = matches.first?.route.declaration.pattern ?? ""
    do throws(Problem) {
      let (reply, isCacheable, declaration) = try dispatch(request, to: matches, listener, requestID)
      let finish = self.finish(
        request, label, requestID, cacheValidity: isCacheable ? number : nil,
        streaming: declaration?.scope.map { ($0, listener) })
      let waiting = RequestAuthorization.revocation(request, declaration, listener: listener, environment, requestID)
      switch reply {
      case .now(let response): return .now(finish(response))
      case .later(let start): return .later { promise in start(promise.map(finish, waiting: waiting)) }
      case .wait(let wait): return .wait(waiting(wait).map(finish))
      }
    } catch {
      return .now(finish(request, label, requestID)(error.response(requestID: requestID)))
    }
  }

  /// Adds to a response what every response carries: the label for its counter, the request id, and the headers that
  /// let pages of an allowed origin read it; a stream gets the condition under which it may continue.
  private func finish(
    _ request: HTTPRequest, _ label: String, _ requestID: String, cacheValidity number: UInt64? = nil,
    streaming: (scope: AccessScope, listener: Int)? = nil
  ) -> @Sendable (HTTPResponse) -> HTTPResponse {
    let settings = environment.settings
    let origin = settings.origins.headers(request)
    // If neither the client nor a log has the id, it is useless, and it would prevent sharing the document (ADR 11).
    let isNameless = request.headers["X-Request-Id"] == nil && settings.accessLog == nil && origin.count == 0
    return { response in
      var response = response
      response.label = label
      if isNameless, case .shared(let shared) = response.body, response.status == 200,
        response.headers == shared.headers
      {
        if let number {
          let count = environment.requests.counter(of: label, "GET", 200)
          response.cacheValidity = ResponseCacheValidity(generation: environment.generation, number: number) {
            count.increment()
          }
        }
        return response
      }
      if response.headers["X-Request-Id"] == nil { response.headers.add("X-Request-Id", requestID) }
      for field in origin { response.headers[field.name] = field.value }
      if let streaming, case .stream(var stream) = response.body {
        stream.isPermitted = RequestAuthorization.permission(
          request, streaming.scope, listener: streaming.listener, environment.access)
        response.body = .stream(stream)
      }
      return response
    }
  }

  private func dispatch(
    _ request: HTTPRequest, to matches: [RouteIndex.Match], _ listener: Int, _ requestID: String
  ) throws(Problem) -> (reply: HTTPReply, isCacheable: Bool, declaration: RouteDeclaration?) {
    if request.path == "*" { return (options(routes, request), false, nil) }
    guard !matches.isEmpty else {
      throw Problem(
        .notFound, "no resource at \(Redaction.redacted(request.path).debugDescription); GET / lists all resources")
    }
    if request.method == "OPTIONS" { return (options(matches.map(\.route.declaration), request), false, nil) }
    let method = request.method == "HEAD" ? "GET" : request.method
    guard let (route, raw) = matches.first(where: { $0.route.declaration.method == method }) else {
      let allow = Self.allow(matches.map(\.route.declaration))
      throw Problem(
        .methodNotAllowed, "method \(request.method) is not allowed; expected one of \(allow)",
        headers: ["Allow": allow])
    }
    let declaration = route.declaration
    let policy = environment.access.policy
    let token = try RequestAuthorization.authorize(
      request, declaration.scope(under: policy), listener: listener, policy, environment.settings.origins)
    let routed = RoutedRequest(
      request: request, path: try Self.decode(raw), query: try Self.query(request, declaration),
      media: try MediaType.negotiate(declaration.mediaTypes, for: request), requestID: requestID, token: token,
      listener: listener, environment: environment)
    // A token expires without an event, so a response to it cannot be cached.
    let isCacheable =
      declaration.isCacheable && request.method == "GET"
      && !RequestAuthorization.requiresToken(request, declaration.scope, listener, policy)
    guard isQueued(declaration) else { return (try Self.reply(route, routed), isCacheable, declaration) }
    return (routed.queued { () throws(Problem) in try Self.reply(route, routed) }, isCacheable, declaration)
  }

  private func isQueued(_ route: RouteDeclaration) -> Bool {
    switch route.queueing {
    case .never: false
    case .whenLarge: environment.documentsAreLarge()
    case .always: true
    }
  }

  private static func reply(_ route: BoundRoute, _ routed: RoutedRequest) throws(Problem) -> HTTPReply {
    let reply = try route.handle(routed)
    return route.declaration.isCompressible ? ContentCoding.apply(reply, to: routed.request) : reply
  }

  private func options(_ routes: [RouteDeclaration], _ request: HTTPRequest) -> HTTPReply {
    let allow = Self.allow(routes)
    var headers: HTTPHeaders = ["Allow": allow, "Vary": "Origin"]
    for field in environment.settings.origins.preflight(request, allow: allow) { headers[field.name] = field.value }
    return .now(HTTPResponse(status: 204, headers: SecurityHeaders.merged(into: headers)))
  }

  private static func allow(_ routes: [RouteDeclaration]) -> String {
    var methods = routes.reduce(into: [String]()) { if !$0.contains($1.method) { $0.append($1.method) } }
    if let index = methods.firstIndex(of: "GET") { methods.insert("HEAD", at: index + 1) }
    return (methods + ["OPTIONS"]).joined(separator: ", ")
  }

  private static func decode(_ raw: [String: String]) throws(Problem) -> [String: String] {
    var decoded: [String: String] = [:]
    for (name, value) in raw {
      guard let text = HTTPRequest.decodePercent(value) else {
        throw Problem(
          .badRequest, "invalid percent encoding in the path segment \(Redaction.redacted(value).debugDescription)")
      }
      decoded[name] = text
    }
    return decoded
  }

  private static func query(_ request: HTTPRequest, _ route: RouteDeclaration) throws(Problem) -> [String: String] {
    var query: [String: String] = [:]
    for item in request.query {
      guard route.parameters.contains(item.name) else {
        let known = route.parameters.sorted().joined(separator: ", ")
        throw Problem(
          .unknownParameter,
          "unknown parameter \(item.name.debugDescription) of \(route.pattern); "
            + (known.isEmpty ? "it has no parameters" : "expected \(known)"))
      }
      guard query.updateValue(item.value, forKey: item.name) == nil || route.repeatable.contains(item.name) else {
        throw Problem(.badRequest, "the parameter \(item.name) is given more than once")
      }
    }
    return query
  }
}

/// Finds the routes of a path.
struct RouteIndex: Sendable {
  typealias Match = (route: BoundRoute, parameters: [String: String])

  /// The routes without parameters, by path: most requests need only one lookup.
  private let literal: [String: [BoundRoute]]
  private let parameterized: [BoundRoute]

  init(_ routes: [BoundRoute]) {
    parameterized = routes.filter { $0.declaration.pattern.contains("{") }
    literal = Dictionary(
      grouping: routes.filter { !$0.declaration.pattern.contains("{") }, by: \.declaration.pattern)
  }

  func matches(_ path: String) -> [Match] {
    if let found = literal[path] { return found.map { ($0, [:]) } }
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    return parameterized.compactMap { route in route.declaration.match(segments).map { (route, $0) } }
  }
}
