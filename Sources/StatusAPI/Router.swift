internal import MicroHTTP
internal import NetworkReachability

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
  var offers: [MediaType]
  /// One line for the index.
  var summary: String
  var handle: @Sendable (Exchange) throws(Problem) -> HTTPReply

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
struct Exchange: Sendable {
  var request: HTTPRequest
  var service: ServiceParts
  /// Path parameters, percent-decoded.
  var path: [String: String]
  var query: [String: String]
  var media: MediaType
  var requestID: String

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

/// Finds the route of a request and turns every refusal into a problem document: a function without sockets.
struct Router: Sendable {
  let routes: [Route]
  let service: ServiceParts
  /// The routes without parameters by their paths: most requests need no more than one look.
  private let fixed: [String: [Route]]
  private let patterned: [Route]

  init(routes: [Route], service: ServiceParts) {
    self.routes = routes
    self.service = service
    patterned = routes.filter { $0.pattern.contains("{") }
    fixed = Dictionary(grouping: routes.filter { !$0.pattern.contains("{") }, by: \.pattern)
  }

  /// The routes of a path, with the parameters that are in it.
  private func matches(_ path: String) -> [(route: Route, parameters: [String: String])] {
    if let found = fixed[path] { return found.map { ($0, [:]) } }
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    return patterned.compactMap { route in route.match(segments).map { (route, $0) } }
  }

  /// Answers a request that came in by a listener, by its number.
  func handle(_ request: HTTPRequest, listener: Int) -> HTTPReply {
    let requestID = RequestID.of(request)
    // What is counted goes by routes: paths are the clients' to invent.
    var label = ""
    do throws(Problem) {
      let reply = try dispatch(request, listener, requestID, &label)
      let finish = self.finish(request, label, requestID)
      switch reply {
      case .now(let response): return .now(finish(response))
      case .later(let start): return .later { promise in start(promise.map(finish)) }
      case .wait(let wait): return .wait(wait.map(finish))
      }
    } catch {
      return .now(finish(request, label, requestID)(error.response(requestID: requestID)))
    }
  }

  /// Puts on an answer what every answer carries: what it is counted by, the id of its request, and what lets the pages
  /// of an allowed origin read it.
  private func finish(
    _ request: HTTPRequest, _ label: String, _ requestID: String
  ) -> @Sendable (HTTPResponse) -> HTTPResponse {
    let settings = service.settings.current
    let origin = settings.origins.headers(request)
    // An id that neither the client nor a log has names nothing, and would cost a shared document its sharing (ADR 11).
    let isNameless = request.headers["X-Request-Id"] == nil && settings.accessLog == nil && origin.count == 0
    return { response in
      var response = response
      response.label = label
      if isNameless, case .shared(let shared) = response.body, response.status == 200,
        response.headers == shared.headers
      {
        return response
      }
      if response.headers["X-Request-Id"] == nil { response.headers.add("X-Request-Id", requestID) }
      for field in origin { response.headers[field.name] = field.value }
      return response
    }
  }

  private func dispatch(
    _ request: HTTPRequest, _ listener: Int, _ requestID: String, _ label: inout String
  ) throws(Problem) -> HTTPReply {
    try HostRule.check(request, allowed: service.settings.current.allowedHosts)
    if request.path == "*" { return options(routes, request) }
    let matches = matches(request.path)
    guard !matches.isEmpty else {
      throw Problem(.notFound, "There is no \(request.path.debugDescription); GET / lists what there is.")
    }
    label = matches[0].0.pattern
    if request.method == "OPTIONS" { return options(matches.map(\.0), request) }
    let method = request.method == "HEAD" ? "GET" : request.method
    guard let (route, raw) = matches.first(where: { $0.0.method == method }) else {
      let allow = Self.allow(matches.map(\.0))
      throw Problem(
        .methodNotAllowed, "\(request.method) is not possible here; \(allow) are.", headers: ["Allow": allow])
    }
    try AccessRule.check(request, route.scope, listener: listener, service.access.policy, service.origins)
    let exchange = Exchange(
      request: request, service: service, path: try Self.decode(raw), query: try Self.query(request, route),
      media: try MediaType.choose(route.offers, for: request), requestID: requestID)
    return try route.handle(exchange)
  }

  private func options(_ routes: [Route], _ request: HTTPRequest) -> HTTPReply {
    let allow = Self.allow(routes)
    var headers: HTTPHeaders = ["Allow": allow, "Vary": "Origin"]
    for field in service.origins.preflight(request, allow: allow) { headers[field.name] = field.value }
    return .now(HTTPResponse(status: 204, headers: SecurityHeaders.with(headers)))
  }

  private static func allow(_ routes: [Route]) -> String {
    var methods = routes.reduce(into: [String]()) { if !$0.contains($1.method) { $0.append($1.method) } }
    if let index = methods.firstIndex(of: "GET") { methods.insert("HEAD", at: index + 1) }
    return (methods + ["OPTIONS"]).joined(separator: ", ")
  }

  private static func decode(_ raw: [String: String]) throws(Problem) -> [String: String] {
    var decoded: [String: String] = [:]
    for (name, value) in raw {
      guard let text = HTTPRequest.decodePercent(value) else {
        throw Problem(.badRequest, "The path has a broken percent sequence in \(value.debugDescription).")
      }
      decoded[name] = text
    }
    return decoded
  }

  private static func query(_ request: HTTPRequest, _ route: Route) throws(Problem) -> [String: String] {
    var query: [String: String] = [:]
    for item in request.query {
      guard route.parameters.contains(item.name) else {
        let known = route.parameters.sorted().joined(separator: ", ")
        throw Problem(
          .unknownParameter,
          "\(route.pattern) has no parameter \(item.name.debugDescription)"
            + (known.isEmpty ? "; it has none." : "; it has \(known)."))
      }
      guard query.updateValue(item.value, forKey: item.name) == nil || route.repeatable.contains(item.name) else {
        throw Problem(.badRequest, "The parameter \(item.name) is given twice.")
      }
    }
    return query
  }
}
