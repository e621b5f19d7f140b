internal import EmbeddedHTTPServer
internal import ReachabilityChecks
internal import EventStreams
internal import NetworkReachability

/// Finds the route of a request and converts every refusal into a problem document; it uses no sockets.
struct Router: Sendable {
  let service: ServiceContext
  private let node = RouteIndex(RouteTable.all)

  init(service: ServiceContext) { self.service = service }

  /// Returns the routes of a path, with the parameters in it.
  private func matches(_ path: String) -> [RouteIndex.Match] {
    let found = node.matches(path)
    return found.isEmpty ? service.extensions?.index.matches(path) ?? [] : found
  }

  /// Handles a request from the listener with this number.
  func handle(_ request: HTTPRequest, listener: Int) -> HTTPReply {
    let requestID = RequestID.of(request)
    // Read the generation before anything that it covers.
    let number = service.epoch.current
    do throws(Problem) {
      try HostHeaderPolicy.enforce(request, allowed: service.settings.current.allowedHosts)
    } catch {
      return .now(finish(request, "", requestID)(error.response(requestID: requestID)))
    }
    let matches = request.path == "*" ? [] : matches(request.path)
    // Requests are counted by route: clients choose the paths, so their number is unbounded.
    let label = matches.first?.route.pattern ?? ""
    do throws(Problem) {
      let (reply, isCacheable, scope) = try dispatch(request, to: matches, listener, requestID)
      let finish = self.finish(
        request, label, requestID, cacheValidity: isCacheable ? number : nil,
        streaming: scope.map { ($0, listener) })
      let waiting = RequestAuthorization.revocation(request, scope, listener: listener, service, requestID)
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
    let settings = service.settings.current
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
          let count = service.requests.count(of: label, "GET", 200)
          response.cacheValidity = ResponseCacheValidity(epoch: service.epoch, number: number) { count.increment() }
        }
        return response
      }
      if response.headers["X-Request-Id"] == nil { response.headers.add("X-Request-Id", requestID) }
      for field in origin { response.headers[field.name] = field.value }
      if let streaming, case .stream(var stream) = response.body {
        stream.isPermitted = RequestAuthorization.permission(
          request, streaming.scope, listener: streaming.listener, service.access)
        response.body = .stream(stream)
      }
      return response
    }
  }

  private func dispatch(
    _ request: HTTPRequest, to matches: [RouteIndex.Match], _ listener: Int, _ requestID: String
  ) throws(Problem) -> (reply: HTTPReply, isCacheable: Bool, scope: AccessScope?) {
    if request.path == "*" { return (options(RouteTable.routes(of: service), request), false, nil) }
    guard !matches.isEmpty else {
      throw Problem(
        .notFound, "no resource at \(Redaction.redacted(request.path).debugDescription); GET / lists all resources")
    }
    if request.method == "OPTIONS" { return (options(matches.map(\.route), request), false, nil) }
    let method = request.method == "HEAD" ? "GET" : request.method
    guard let (route, raw) = matches.first(where: { $0.route.method == method }) else {
      let allow = Self.allow(matches.map(\.route))
      throw Problem(
        .methodNotAllowed, "method \(request.method) is not allowed; expected one of \(allow)",
        headers: ["Allow": allow])
    }
    let policy = service.access.policy
    let scope = route.isBadge && policy.badgesAreOpen ? nil : route.scope
    let account = try RequestAuthorization.authorize(request, scope, listener: listener, policy, service.origins)
    let context = RequestContext(
      request: request, service: service, listener: listener, path: try Self.decode(raw),
      query: try Self.query(request, route),
      media: try MediaType.negotiate(route.mediaTypes, for: request), requestID: requestID, account: account)
    // A token expires without an event, so a response to it cannot be cached.
    let isCacheable =
      route.isCacheable && request.method == "GET"
      && !RequestAuthorization.requiresToken(request, route.scope, listener, policy)
    guard isQueued(route) else { return (try Self.reply(route, context), isCacheable, scope) }
    let queued = service.documents.reply(to: context) { () throws(Problem) in try Self.reply(route, context) }
    return (queued, isCacheable, scope)
  }

  private func isQueued(_ route: APIRoute) -> Bool {
    switch route.queueing {
    case .never: false
    case .manyTargets: service.targets.schedule.count > DocumentQueue.directTargets
    case .always: true
    }
  }

  private static func reply(_ route: APIRoute, _ context: RequestContext) throws(Problem) -> HTTPReply {
    let reply = try route.handle(context)
    if route.scope == .targetsWrite, let store = context.service.events.store {
      return DurableTargetReply.afterCommit(reply, in: store, context)
    }
    return route.isCompressible ? ContentCoding.apply(reply, to: context.request) : reply
  }

  private func options(_ routes: [APIRoute], _ request: HTTPRequest) -> HTTPReply {
    let allow = Self.allow(routes)
    var headers: HTTPHeaders = ["Allow": allow, "Vary": "Origin"]
    for field in service.origins.preflight(request, allow: allow) { headers[field.name] = field.value }
    return .now(HTTPResponse(status: 204, headers: SecurityHeaders.merged(into: headers)))
  }

  private static func allow(_ routes: [APIRoute]) -> String {
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

  private static func query(_ request: HTTPRequest, _ route: APIRoute) throws(Problem) -> [String: String] {
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
  typealias Match = (route: APIRoute, parameters: [String: String])

  /// The routes without parameters, by path: most requests need only one lookup.
  private let literal: [String: [APIRoute]]
  private let parameterized: [APIRoute]

  init(_ routes: [APIRoute]) {
    parameterized = routes.filter { $0.pattern.contains("{") }
    literal = Dictionary(grouping: routes.filter { !$0.pattern.contains("{") }, by: \.pattern)
  }

  func matches(_ path: String) -> [Match] {
    if let found = literal[path] { return found.map { ($0, [:]) } }
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    return parameterized.compactMap { route in route.match(segments).map { (route, $0) } }
  }
}
