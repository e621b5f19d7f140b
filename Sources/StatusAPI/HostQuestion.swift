internal import MicroHTTP
internal import NetworkReachability

/// One request for a host, understood.
struct HostQuestion: Sendable {
  var exchange: Exchange
  /// The host as the client wrote it.
  var host: String
  var target: ReachabilityTarget
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
      target = try ReachabilityTarget(
        host: host, source: exchange.query["source"], interface: exchange.query["interface"])
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

  /// Promises the verdict of this moment as a document, or 304 when the client has it; the kernel is asked elsewhere.
  func answer(_ resolution: NameResolution, _ promise: HTTPPromise) {
    exchange.service.monitor.evaluate(target, resolution: resolution) { promise.fulfil(reply($0)) }
  }

  /// The same by what is known at the end of a wait, at which nobody waits for the kernel as well; nil where nothing is known.
  func lastWord(_ resolution: NameResolution) -> HTTPResponse? {
    exchange.service.monitor.provisionalVerdict(of: target, resolution: resolution).map { response($0.verdict) }
  }

  /// What cannot be said at the end of a wait.
  var unanswered: HTTPResponse {
    Problem(.internal, "The kernel could not be asked.").response(requestID: exchange.requestID)
  }

  private func reply(_ answer: Result<HostVerdict, KernelError>) -> HTTPResponse {
    switch answer {
    case .success(let verdict): return response(verdict)
    case .failure(let error):
      // The client cannot mend this; what the kernel said is in the log under the request's id.
      exchange.service.report(error, exchange.requestID)
      return unanswered
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
  var watched: ReachabilityTarget {
    guard case .name = target.remote, name == nil else { return target }
    return ReachabilityTarget(.defaultPath, source: target.source, interface: target.interface)
  }

  /// A document by a watch's verdict; nil while the watch knows less than a question of its own would.
  func news(_ verdict: HostVerdict) -> HTTPResponse? {
    guard watched == target else {
      // Another watch than the target's: its news are when to look. What the tables do not know of yet comes with the next.
      let provisional = exchange.service.monitor.provisionalVerdict(of: target, resolution: .pending)
      guard let provisional, !provisional.isStale || provisional.verdict.path.reason == verdict.path.reason else {
        return nil
      }
      return response(provisional.verdict)
    }
    // Whose name is being resolved is judged by the default path for the time being: when that is missing, it is missing.
    let servers: [Reason] = [.dnsTimeout, .dnsServerFailure, .resolverUnavailable]
    let isHope = verdict.phase == .optimistic && verdict.path.status != .notReachable
    if isHope, !servers.contains(where: { $0 == verdict.path.reason }) { return nil }
    return response(verdict)
  }
}
