internal import Locks
internal import MicroHTTP
internal import NetworkReachability

/// `GET /hosts/{host}`: one target judged now, by a fresh question to the kernel.
enum HostRoutes {
  /// The longest that a client may wait for a name.
  static let longestTimeout = Duration.seconds(60)

  static let host = Route(
    pattern: "/hosts/{host}", parameters: ["source", "interface", "resolve", "timeout", "wait"],
    offers: [.json, .text], summary: "route-level reachability of a name, an address, default or local-link"
  ) { (exchange) throws(Problem) in
    let question = try HostQuestion(exchange)
    if question.name != nil {
      guard exchange.service.nameQuota.take(client: exchange.client) else {
        throw Problem(
          .rateLimited, "More than \(NameQuota.perSecond) names a second; try again, or ask with resolve=none.",
          headers: ["Retry-After": "1"])
      }
    }
    if let limit = question.poll.limit, question.tags.isGiven { return .wait(wait(question, limit)) }
    return .later { promise in
      guard let name = question.name else { return question.answer(.pending, promise) }
      exchange.service.monitor.resolve(name, timeout: question.timeout) { question.answer($0, promise) }
    }
  }

  /// Answers as soon as a watch of the target has a verdict that the client does not have.
  ///
  /// By the watch alone: a question of its own may for a while know a name's other addresses, or of a loss that is not told
  /// before the settle time, and who waits again at once would be answered by the one and the other in turn.
  private static func wait(_ question: HostQuestion, _ limit: Duration) -> HTTPWait {
    // The answer if nothing changes.
    let last = Locked<HTTPResponse?>(nil)
    return HTTPWait(limit: limit) {
      // Of a name that is still being resolved, the default path is all that is known.
      last.withLock(\.self) ?? question.lastWord(.failed(.dnsTimeout)) ?? question.unanswered
    } begin: { promise in
      let leave = question.exchange.service.hostWaits.enter(question.watched) { verdict in
        guard let news = question.news(verdict) else { return false }
        guard news.status == 304 else {
          promise.fulfil(news)
          return true
        }
        last.withLock { $0 = news }
        return false
      }
      guard let leave else {
        promise.fulfil(question.crowded)
        return {}
      }
      return leave
    }
  }
}
