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
    guard let name = question.name else { return .now(try question.answer(.pending)) }
    return .later { promise in
      exchange.service.monitor.resolve(name, timeout: question.timeout) { resolution in
        promise.fulfil(question.reply(resolution))
      }
    }
  }

  /// Judges now, and, when the client has that verdict already, again with every change.
  private static func wait(_ question: HostQuestion, _ limit: Duration) -> HTTPWait {
    let visit = Visit()
    return HTTPWait(limit: limit) {
      // Of a name that is still being resolved, the default path is all that is known.
      visit.last.withLock(\.self) ?? question.reply(.failed(.dnsTimeout))
    } begin: { promise in
      @Sendable func judge(_ resolution: NameResolution) {
        let first = question.reply(resolution)
        guard first.status == 304, let tag = first.headers["ETag"] else { return promise.fulfil(first) }
        visit.last.withLock { $0 = first }
        let leave = question.exchange.service.hostWaits.enter(question.watched) { verdict in
          guard let news = question.news(verdict), news.headers["ETag"] != tag else { return false }
          promise.fulfil(news)
          return true
        }
        guard let leave else { return promise.fulfil(question.crowded) }
        visit.stay(leave)
      }
      if let name = question.name {
        question.exchange.service.monitor.resolve(name, timeout: question.timeout) { judge($0) }
      } else {
        judge(.pending)
      }
      return { visit.end() }
    }
  }

  /// How one wait ends, from whichever side.
  private final class Visit: Sendable {
    /// The answer if nothing changes.
    let last = Locked<HTTPResponse?>(nil)
    private let state = Locked<(isOver: Bool, leave: (@Sendable () -> Void)?)>((false, nil))

    func stay(_ leave: @escaping @Sendable () -> Void) {
      let isOver = state.withLock { state in
        if !state.isOver { state.leave = leave }
        return state.isOver
      }
      if isOver { leave() }
    }

    func end() {
      let leave = state.withLock { state in
        defer { state = (true, nil) }
        return state.leave
      }
      leave?()
    }
  }
}
