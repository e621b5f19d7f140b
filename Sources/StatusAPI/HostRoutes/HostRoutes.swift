internal import Locks
internal import EmbeddedHTTPServer
internal import NetworkReachability

/// `GET /hosts/{host}`: evaluates one target now, by a new kernel lookup.
enum HostRoutes {
  /// The longest timeout of a name's resolution.
  static let timeoutLimit = Duration.seconds(60)

  static let host = APIRoute(
    pattern: "/hosts/{host}", parameters: ["source", "interface", "resolve", "timeout", "wait"],
    mediaTypes: [.json, .text], summary: "route-level reachability of a name, an address, default or local-link"
  ) { (context) throws(Problem) in
    let request = try HostRouteRequest(context)
    if request.name != nil {
      guard context.service.resolutionRateLimiter.consume(client: context.client) else {
        throw Problem(
          .rateLimited,
          "more than \(ResolutionRateLimiter.ratePerSecond) names per second; retry later, or use resolve=none",
          headers: ["Retry-After": "1"])
      }
    }
    if let limit = request.poll.limit, request.tags.isPresent { return .wait(wait(request, limit)) }
    return .later { promise in
      guard let name = request.name else { return request.answer(.pending, promise) }
      context.service.monitor.resolve(name, timeout: request.timeout) { request.answer($0, promise) }
    }
  }

  /// Responds when a watch of the target has a verdict that the client does not have.
  ///
  /// No separate lookup is made, because its result may differ for a moment: by other addresses, or by a loss that the watch
  /// still delays by the settle time. A client that waits again immediately would receive the two verdicts in turn.
  private static func wait(_ request: HostRouteRequest, _ limit: Duration) -> HTTPWait {
    // The response if nothing changes.
    let last = Locked<HTTPResponse?>(nil)
    return HTTPWait(limit: limit) {
      // While a name is being resolved, only the default path is known.
      last.withLock(\.self) ?? request.timeoutResponse(.failed(.dnsTimeout)) ?? request.kernelFailureResponse
    } begin: { promise in
      let remove = request.context.service.hostLongPolls.add(request.watchTarget) { verdict in
        guard let news = request.watchResponse(verdict) else { return false }
        guard news.status == 304 else {
          promise.fulfil(news)
          return true
        }
        last.withLock { $0 = news }
        return false
      }
      guard let remove else {
        promise.fulfil(request.watchLimitResponse)
        return {}
      }
      return remove
    }
  }
}
