internal import Locks
internal import HTTPRouting
internal import NetworkReachability

/// `GET /hosts/{host}`: evaluates one target now, by a new kernel lookup.
enum HostRoutes {
  /// The longest timeout of a name's resolution.
  static let timeoutLimit = Duration.seconds(60)

  static let host = NodeRoute(
    pattern: "/hosts/{host}", parameters: ["source", "interface", "resolve", "timeout", "wait"],
    mediaTypes: [.json, .text], summary: "route-level reachability of a name, an address, default or local-link"
  ) { (context) throws(Problem) in
    let request = try HostRouteRequest(context)
    let waits = request.poll.limit != nil && request.tags != nil
    // A watched name is looked up at intervals of its own.
    let isKnown = waits && context.service.hostLongPolls.isWatched(request.watchTarget)
    if request.name != nil, !isKnown { try context.countNames(1, hint: ", or use resolve=none") }
    if let limit = request.poll.limit, waits { return try wait(request, limit) }
    return .later { promise in
      guard let name = request.name else { return request.answer(.pending, promise) }
      context.service.monitor.resolve(forClient: name, timeout: request.timeout) { resolution in
        guard let resolution else { return promise.fulfil(context.answer(tooManyNames)) }
        request.answer(resolution, promise)
      }
    }
  }

  private static let tooManyNames = Problem(
    .overloaded, "too many names wait for the name servers; retry later, or use resolve=none",
    headers: ["Retry-After": "2"])
  /// Bytes of a watched host: its verdict, its document and its subscriptions.
  private static let watchBytes = 4 * 1024

  /// Responds when a watch of the target has a verdict that the client does not have.
  ///
  /// No separate lookup is made, because its result may differ for a moment: by other addresses, or by a loss that the watch
  /// still delays by the settle time. A client that waits again immediately would receive the two verdicts in turn.
  private static func wait(_ request: HostRouteRequest, _ limit: Duration) throws(Problem) -> HTTPReply {
    let names = Set([request.name].compactMap(\.self))
    let client = request.context.client
    guard let lease = request.context.service.hostNames.watch(names, client: client) else {
      throw request.watchLimit
    }
    // The response if nothing changes.
    let last = Locked<HTTPResponse?>(nil)
    let wait = HTTPWait(limit: limit, retainedBytes: watchBytes) {
      // While a name is being resolved, only the default path is known.
      last.withLock(\.self) ?? request.timeoutResponse(.failed(.dnsTimeout)) ?? request.kernelFailureResponse
    } begin: { promise in
      let remove = request.context.service.hostLongPolls.add(request.watchTarget, client: client) { verdict in
        guard let news = request.watchResponse(verdict) else { return false }
        guard news.status == 304 else {
          promise.fulfil(news)
          return true
        }
        last.withLock { $0 = news }
        return false
      }
      guard let remove else {
        promise.fulfil(request.context.answer(request.watchLimit))
        return {}
      }
      return {
        remove()
        withExtendedLifetime(lease) {}
      }
    }
    return .wait(wait)
  }
}
