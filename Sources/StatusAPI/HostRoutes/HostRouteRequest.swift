internal import Events
internal import JSONFormat
internal import HTTPRouting
internal import Logging
internal import NetworkReachability

struct HostRouteRequest: Sendable {
  var context: RequestContext
  /// The host as the client wrote it.
  var host: String
  var target: ReachabilityTarget
  /// The name to resolve; nil without one, or when the client disables the query.
  var name: String?
  var timeout: Duration
  var tags: EntityTagList?
  var poll: LongPoll

  init(_ context: RequestContext) throws(Problem) {
    self.context = context
    host = context.path["host"] ?? ""
    do throws(TargetError) {
      target = try ReachabilityTarget(
        host: host, source: context.query["source"], interface: context.query["interface"])
    } catch {
      throw Problem(.badHost, "\(error.problem); \(error.hint)")
    }
    let resolve = context.query["resolve"] ?? "wait"
    guard ["none", "wait"].contains(resolve) else {
      throw Problem(.badRequest, "resolve must be none or wait, got \(resolve.debugDescription)")
    }
    if case .name(let name) = target.remote, resolve == "wait" { self.name = name }
    timeout = context.service.settings.current.resolverTimeout
    if let text = context.query["timeout"] {
      guard let given = DurationFormat.parse(text), given > .zero, given <= HostRoutes.timeoutLimit else {
        throw Problem(
          .badRequest, "timeout must be a duration of at most 60s, such as 5s or 500ms, got \(text.debugDescription)")
      }
      timeout = given
    }
    tags = EntityTagList(ifNoneMatch: context.request)
    poll = try LongPoll(context.routed)
  }

  // MARK: - Responses

  /// Fulfils the promise with the current verdict, or with 304; the kernel lookup runs on another thread.
  func answer(_ resolution: NameResolution, _ promise: HTTPPromise) {
    context.service.monitor.evaluate(target, resolution: resolution) { promise.fulfil(reply($0)) }
  }

  /// Returns the provisional verdict for a wait that has ended, without a lookup; nil when there is none.
  func timeoutResponse(_ resolution: NameResolution) -> HTTPResponse? {
    context.service.monitor.provisionalVerdict(of: target, resolution: resolution).map { response($0.verdict) }
  }

  /// The response when the kernel lookup fails: an unknown status, as in `/status`.
  var kernelFailureResponse: HTTPResponse {
    var verdict = HostVerdict(target: target, path: .unknown(.kernelUnavailable))
    if case .name = target.remote { verdict.phase = .optimistic }
    return response(verdict)
  }

  private func reply(_ answer: Result<HostVerdict, KernelError>) -> HTTPResponse {
    switch answer {
    case .success(let verdict): return response(verdict)
    case .failure(let error):
      // The client cannot act on the kernel's error; the log has it with the request's id.
      context.service.logger.error(
        "request failed", metadata: ["request": "\(context.requestID)", "error": "\(error)"])
      return kernelFailureResponse
    }
  }

  /// The problem when too many hosts are watched.
  var watchLimit: Problem {
    Problem(.rateLimited, "too many hosts are watched; retry without wait", headers: ["Retry-After": "10"])
  }

  private func response(_ verdict: HostVerdict) -> HTTPResponse {
    let headers = RepresentationHeaders.headers(context.media, tag: tag(verdict))
    if let response = tags?.notModified(headers) {
      return poll.addingPreferenceApplied(response)
    }
    let body =
      context.media == .text
      ? Array(StatusRepresentation.line(verdict.path).utf8)
      : HostRepresentation.document(verdict, host: host, evaluatedAt: .now).bytes
    return poll.addingPreferenceApplied(HTTPResponse(headers: headers, body: .bytes(body + [0x0a])))
  }

  /// Returns a tag by content, because changes of a host are not numbered.
  ///
  /// It excludes the time and the order of addresses, which name servers often change.
  private func tag(_ verdict: HostVerdict) -> String {
    var verdict = verdict
    verdict.addresses.sort { $0.address.description < $1.address.description }
    let timeless = HostRepresentation.document(verdict, host: host, evaluatedAt: Timestamp(microseconds: 0))
    // `Hasher` has a random key per process, which changes like the epoch.
    var hasher = Hasher()
    hasher.combine(timeless.bytes)
    return "W/\"\(context.service.events.epoch)-\(UInt(bitPattern: hasher.finalize()))\""
  }

  // MARK: - Waiting

  /// The target to watch for changes; the default path for a name that must not be resolved.
  var watchTarget: ReachabilityTarget {
    guard case .name = target.remote, name == nil else { return target }
    return ReachabilityTarget(.defaultPath, source: target.source, interface: target.interface)
  }

  /// Returns a response from a watch's verdict; nil while a separate lookup would provide more.
  func watchResponse(_ verdict: HostVerdict) -> HTTPResponse? {
    guard watchTarget == target else {
      // The watch follows the default path and only triggers a lookup. If the tables lag behind, a later verdict does.
      let provisional = context.service.monitor.provisionalVerdict(of: target, resolution: .pending)
      guard let provisional, !provisional.isStale || provisional.verdict.path.reason == verdict.path.reason else {
        return nil
      }
      return response(provisional.verdict)
    }
    // During resolution a name has the verdict of the default path; without a default path it is not reachable.
    let servers: [Reason] = [.dnsTimeout, .dnsServerFailure, .resolverUnavailable]
    let isProvisional = verdict.phase == .optimistic && verdict.path.status != .notReachable
    if isProvisional, !servers.contains(where: { $0 == verdict.path.reason }) { return nil }
    return response(verdict)
  }
}
