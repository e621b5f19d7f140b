internal import Locks
internal import EmbeddedHTTPServer
internal import NetworkReachability

/// `GET /hosts/{host}`: one target judged now, by a fresh question to the kernel.
enum HostRoutes {
  /// The longest that a client may wait for a name.
  static let timeoutLimit = Duration.seconds(60)

  static let host = Route(
    pattern: "/hosts/{host}", parameters: ["source", "interface", "resolve", "timeout", "wait"],
    mediaTypes: [.json, .text], summary: "route-level reachability of a name, an address, default or local-link"
  ) { (context) throws(Problem) in
    let request = try HostRequest(context)
    if request.name != nil {
      guard context.service.resolutionRateLimiter.consume(client: context.client) else {
        throw Problem(
          .rateLimited,
          "More than \(ResolutionRateLimiter.ratePerSecond) names a second; try again, or ask with resolve=none.",
          headers: ["Retry-After": "1"])
      }
    }
    if let limit = request.poll.limit, request.tags.isPresent { return .wait(wait(request, limit)) }
    return .later { promise in
      guard let name = request.name else { return request.answer(.pending, promise) }
      context.service.monitor.resolve(name, timeout: request.timeout) { request.answer($0, promise) }
    }
  }

  /// Answers as soon as a watch of the target has a verdict that the client does not have.
  ///
  /// By the watch alone: a question of its own may for a while know a name's other addresses, or of a loss that is not told
  /// before the settle time, and who waits again at once would be answered by the one and the other in turn.
  private static func wait(_ request: HostRequest, _ limit: Duration) -> HTTPWait {
    // The answer if nothing changes.
    let last = Locked<HTTPResponse?>(nil)
    return HTTPWait(limit: limit) {
      // Of a name that is still being resolved, the default path is all that is known.
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
