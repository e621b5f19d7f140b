internal import MicroHTTP
internal import NetworkReachability

/// `GET /hosts/{host}`: one target judged now, by a fresh question to the kernel.
enum HostRoutes {
  /// The longest that a client may wait for a name.
  static let longestTimeout = Duration.seconds(60)

  static let host = Route(
    pattern: "/hosts/{host}", parameters: ["source", "interface", "resolve", "timeout"], offers: [.json, .text],
    summary: "route-level reachability of a name, an address, default or local-link"
  ) { (exchange) throws(Problem) in
    let host = exchange.path["host"] ?? ""
    let target = try target(host, exchange)
    let (mustResolve, timeout) = try patience(exchange)
    guard case .name(let name) = target.remote, mustResolve else {
      return .now(try answer(target, host, .pending, exchange))
    }
    guard exchange.service.nameQuota.take(client: exchange.client) else {
      throw Problem(
        .rateLimited, "More than \(NameQuota.perSecond) names a second; try again, or ask with resolve=none.",
        headers: ["Retry-After": "1"])
    }
    return .later { promise in
      exchange.service.monitor.resolve(name, timeout: timeout) { resolution in
        promise.fulfil(later(target, host, resolution, exchange))
      }
    }
  }

  private static func target(_ host: String, _ exchange: Exchange) throws(Problem) -> Target {
    do throws(TargetError) {
      return try Target(host: host, source: exchange.query["source"], interface: exchange.query["interface"])
    } catch {
      throw Problem(.badHost, "\(error.problem); \(error.hint).")
    }
  }

  private static func patience(_ exchange: Exchange) throws(Problem) -> (mustResolve: Bool, timeout: Duration) {
    let resolve = exchange.query["resolve"] ?? "wait"
    guard ["none", "wait"].contains(resolve) else {
      throw Problem(.badRequest, "resolve=\(resolve.debugDescription) is not known; none and wait are.")
    }
    guard let text = exchange.query["timeout"] else {
      return (resolve == "wait", exchange.service.resolverTimeout)
    }
    guard let timeout = DurationText.parse(text), timeout > .zero, timeout <= longestTimeout else {
      throw Problem(.badRequest, "timeout=\(text.debugDescription) is no duration up to 60s, such as 5s or 500ms.")
    }
    return (resolve == "wait", timeout)
  }

  private static func later(
    _ target: Target, _ host: String, _ resolution: NameResolution, _ exchange: Exchange
  ) -> HTTPResponse {
    do throws(Problem) {
      return exchange.answer(try answer(target, host, resolution, exchange))
    } catch {
      return exchange.answer(error)
    }
  }

  private static func answer(
    _ target: Target, _ host: String, _ resolution: NameResolution, _ exchange: Exchange
  ) throws(Problem) -> HTTPResponse {
    let verdict: HostVerdict
    do throws(KernelError) {
      verdict = try exchange.service.monitor.evaluate(target, resolution: resolution)
    } catch {
      // The client cannot mend this; what the kernel said is in the log under the request's id.
      exchange.service.report(error, exchange.requestID)
      throw Problem(.internal, "The kernel could not be asked.")
    }
    let body =
      exchange.media == .text
      ? Array(StatusBody.line(verdict.path).utf8) : HostBody.document(verdict, host: host, evaluatedAt: .now).bytes
    return HTTPResponse(headers: StateHeaders.headers(exchange.media), body: .bytes(body + [0x0a]))
  }
}
