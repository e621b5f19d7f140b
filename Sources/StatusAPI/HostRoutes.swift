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
      guard exchange.service.nameQuota.take(client: client(exchange.request.peer)) else {
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

  /// The address of a peer, which is written with its port: `10.0.0.5:4711`, `[fd00::5]:4711`.
  private static func client(_ peer: String) -> String {
    peer.lastIndex(of: ":").map { String(peer[..<$0]) } ?? peer
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

/// One request for a host, understood.
struct HostQuestion: Sendable {
  var exchange: Exchange
  /// The host as the client wrote it.
  var host: String
  var target: Target
  /// The name to resolve; nil when there is none, or the client wants no query.
  var name: String?
  /// The deadline of that.
  var timeout: Duration
  var tags: EntityTags
  var poll: LongPoll

  init(_ exchange: Exchange) throws(Problem) {
    self.exchange = exchange
    host = exchange.path["host"] ?? ""
    do throws(TargetError) {
      target = try Target(host: host, source: exchange.query["source"], interface: exchange.query["interface"])
    } catch {
      throw Problem(.badHost, "\(error.problem); \(error.hint).")
    }
    let resolve = exchange.query["resolve"] ?? "wait"
    guard ["none", "wait"].contains(resolve) else {
      throw Problem(.badRequest, "resolve=\(resolve.debugDescription) is not known; none and wait are.")
    }
    if case .name(let name) = target.remote, resolve == "wait" { self.name = name }
    timeout = exchange.service.settings.current.resolverTimeout
    if let text = exchange.query["timeout"] {
      guard let given = DurationText.parse(text), given > .zero, given <= HostRoutes.longestTimeout else {
        throw Problem(.badRequest, "timeout=\(text.debugDescription) is no duration up to 60s, such as 5s or 500ms.")
      }
      timeout = given
    }
    tags = EntityTags(exchange.request)
    poll = try LongPoll(exchange)
  }

  // MARK: - Answers

  /// The verdict of this moment as a document, or 304 when the client has it.
  func answer(_ resolution: NameResolution) throws(Problem) -> HTTPResponse {
    do throws(KernelError) {
      return response(try exchange.service.monitor.evaluate(target, resolution: resolution))
    } catch {
      // The client cannot mend this; what the kernel said is in the log under the request's id.
      exchange.service.report(error, exchange.requestID)
      throw Problem(.internal, "The kernel could not be asked.")
    }
  }

  /// The same, with a problem as an answer like others.
  func reply(_ resolution: NameResolution) -> HTTPResponse {
    do throws(Problem) {
      return try answer(resolution)
    } catch {
      return error.response(requestID: exchange.requestID)
    }
  }

  /// What a watch of this is answered with when there is no room for another.
  var crowded: HTTPResponse {
    Problem(.rateLimited, "Too many hosts are watched; ask without wait.", headers: ["Retry-After": "10"])
      .response(requestID: exchange.requestID)
  }

  private func response(_ verdict: HostVerdict) -> HTTPResponse {
    let tag = tag(verdict)
    var headers = StateHeaders.headers(exchange.media, tag: tag)
    if tags.hold(tag) {
      headers["Content-Type"] = nil
      return poll.marked(HTTPResponse(status: 304, headers: headers))
    }
    let body =
      exchange.media == .text
      ? Array(StatusBody.line(verdict.path).utf8) : HostBody.document(verdict, host: host, evaluatedAt: .now).bytes
    return poll.marked(HTTPResponse(headers: headers, body: .bytes(body + [0x0a])))
  }

  /// A revision by content, for nobody numbers the changes of a host: the time is left out, and so is the order of
  /// addresses, which name servers like to change.
  private func tag(_ verdict: HostVerdict) -> String {
    var verdict = verdict
    verdict.addresses.sort { $0.address.description < $1.address.description }
    let timeless = HostBody.document(verdict, host: host, evaluatedAt: Timestamp(microseconds: 0))
    // Keyed anew in every process, like the epoch.
    var hasher = Hasher()
    hasher.combine(timeless.bytes)
    return "W/\"\(exchange.service.feed.epoch)-\(UInt(bitPattern: hasher.finalize()))\""
  }

  // MARK: - Waiting

  /// What to watch for news: the target, or the way out for a name that is not to be resolved.
  var watched: Target {
    guard case .name = target.remote, name == nil else { return target }
    return Target(.defaultPath, source: target.source, interface: target.interface)
  }

  /// A document by a watch's verdict; nil while the watch knows less than a question of its own would.
  func news(_ verdict: HostVerdict) -> HTTPResponse? {
    guard watched == target else { return reply(.pending) }
    // Whose name is being resolved is judged by the default path for the time being.
    let servers: [Reason] = [.dnsTimeout, .dnsServerFailure]
    if verdict.phase == .optimistic, !servers.contains(where: { $0 == verdict.path.reason }) { return nil }
    return response(verdict)
  }
}
