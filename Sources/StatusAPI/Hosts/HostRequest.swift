internal import EmbeddedHTTPServer
internal import NetworkReachability

/// One request for a host, understood.
struct HostRequest: Sendable {
  var context: RequestContext
  /// The host as the client wrote it.
  var host: String
  var target: ReachabilityTarget
  /// The name to resolve; nil when there is none, or the client wants no query.
  var name: String?
  /// The deadline of that.
  var timeout: Duration
  var tags: EntityTagCondition
  var poll: LongPoll

  init(_ context: RequestContext) throws(Problem) {
    self.context = context
    host = context.path["host"] ?? ""
    do throws(TargetError) {
      target = try ReachabilityTarget(
        host: host, source: context.query["source"], interface: context.query["interface"])
    } catch {
      throw Problem(.badHost, "\(error.problem); \(error.hint).")
    }
    let resolve = context.query["resolve"] ?? "wait"
    guard ["none", "wait"].contains(resolve) else {
      throw Problem(.badRequest, "resolve=\(resolve.debugDescription) is not known; none and wait are.")
    }
    if case .name(let name) = target.remote, resolve == "wait" { self.name = name }
    timeout = context.service.settings.current.resolverTimeout
    if let text = context.query["timeout"] {
      guard let given = DurationFormat.parse(text), given > .zero, given <= HostRoutes.timeoutLimit else {
        throw Problem(.badRequest, "timeout=\(text.debugDescription) is no duration up to 60s, such as 5s or 500ms.")
      }
      timeout = given
    }
    tags = EntityTagCondition(context.request)
    poll = try LongPoll(context)
  }

  // MARK: - Answers

  /// Promises the verdict of this moment as a document, or 304 when the client has it; the kernel is asked elsewhere.
  func answer(_ resolution: NameResolution, _ promise: HTTPPromise) {
    context.service.monitor.evaluate(target, resolution: resolution) { promise.fulfil(reply($0)) }
  }

  /// The same by what is known at the end of a wait, at which nobody waits for the kernel as well; nil where nothing is known.
  func timeoutResponse(_ resolution: NameResolution) -> HTTPResponse? {
    context.service.monitor.provisionalVerdict(of: target, resolution: resolution).map { response($0.verdict) }
  }

  /// What cannot be said at the end of a wait.
  var kernelFailureResponse: HTTPResponse {
    Problem(.internal, "The kernel could not be asked.").response(requestID: context.requestID)
  }

  private func reply(_ answer: Result<HostVerdict, KernelError>) -> HTTPResponse {
    switch answer {
    case .success(let verdict): return response(verdict)
    case .failure(let error):
      // The client cannot mend this; what the kernel said is in the log under the request's id.
      context.service.report(error, context.requestID)
      return kernelFailureResponse
    }
  }

  /// What a watch of this is answered with when there is no room for another.
  var watchLimitResponse: HTTPResponse {
    Problem(.rateLimited, "Too many hosts are watched; ask without wait.", headers: ["Retry-After": "10"])
      .response(requestID: context.requestID)
  }

  private func response(_ verdict: HostVerdict) -> HTTPResponse {
    let tag = tag(verdict)
    var headers = RepresentationHeaders.headers(context.media, tag: tag)
    if tags.matches(tag) {
      headers["Content-Type"] = nil
      return poll.addingPreferenceApplied(HTTPResponse(status: 304, headers: headers))
    }
    let body =
      context.media == .text
      ? Array(StatusRepresentation.line(verdict.path).utf8)
      : HostRepresentation.document(verdict, host: host, evaluatedAt: .now).bytes
    return poll.addingPreferenceApplied(HTTPResponse(headers: headers, body: .bytes(body + [0x0a])))
  }

  /// A revision by content, for nobody numbers the changes of a host: the time is left out, and so is the order of
  /// addresses, which name servers like to change.
  private func tag(_ verdict: HostVerdict) -> String {
    var verdict = verdict
    verdict.addresses.sort { $0.address.description < $1.address.description }
    let timeless = HostRepresentation.document(verdict, host: host, evaluatedAt: Timestamp(microseconds: 0))
    // Keyed anew in every process, like the epoch.
    var hasher = Hasher()
    hasher.combine(timeless.bytes)
    return "W/\"\(context.service.events.epoch)-\(UInt(bitPattern: hasher.finalize()))\""
  }

  // MARK: - Waiting

  /// What to watch for news: the target, or the way out for a name that is not to be resolved.
  var watchTarget: ReachabilityTarget {
    guard case .name = target.remote, name == nil else { return target }
    return ReachabilityTarget(.defaultPath, source: target.source, interface: target.interface)
  }

  /// A document by a watch's verdict; nil while the watch knows less than a question of its own would.
  func watchResponse(_ verdict: HostVerdict) -> HTTPResponse? {
    guard watchTarget == target else {
      // Another watch than the target's: its news are when to look. What the tables do not know of yet comes with the next.
      let provisional = context.service.monitor.provisionalVerdict(of: target, resolution: .pending)
      guard let provisional, !provisional.isStale || provisional.verdict.path.reason == verdict.path.reason else {
        return nil
      }
      return response(provisional.verdict)
    }
    // Whose name is being resolved is judged by the default path for the time being: when that is missing, it is missing.
    let servers: [Reason] = [.dnsTimeout, .dnsServerFailure, .resolverUnavailable]
    let isProvisional = verdict.phase == .optimistic && verdict.path.status != .notReachable
    if isProvisional, !servers.contains(where: { $0 == verdict.path.reason }) { return nil }
    return response(verdict)
  }
}
