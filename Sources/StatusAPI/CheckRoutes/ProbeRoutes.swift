internal import HTTPRouting
internal import ReachabilityChecks

/// `GET /probe`: the interface of blackbox_exporter for Prometheus.
enum ProbeRoutes {
  /// The part of the scrape timeout that is reserved for the response, with blackbox_exporter's default.
  static let scrapeMargin = Duration.milliseconds(500)
  /// The default module, as in blackbox_exporter.
  static let defaultModule = "http_2xx"

  static let probe = NodeRoute(
    pattern: "/probe", parameters: ["target", "module", "debug", "hostname"], scope: .check, mediaTypes: [.text],
    summary: "one active check as series, for a Prometheus configured for blackbox_exporter"
  ) { (context) throws(Problem) in
    let request: CheckRequest
    switch try read(context) {
    case .request(let valid): request = valid
    case .invalidTarget(let module): return .now(invalidTarget(module))
    }
    try context.service.checkQuota.admit(1, context.routed)
    let isDebug = context.query["debug"] == "true"
    return .later { promise in
      let check = context.service.checker.check(request) { outcome in
        context.service.checkQuota.charge([outcome], context.routed)
        // If a redirect is denied, the target itself has responded, so there is evidence to report.
        if outcome.result.evidence.http == nil, let denial = Problem(denialOf: outcome) {
          return promise.fulfil(context.answer(denial))
        }
        var page = MetricExposition()
        ProbeMetrics.write(outcome.result, outcome.request.module, to: &page)
        promise.fulfil(response(isDebug ? debug(outcome, page, context.service.monitor.snapshot) : page.bytes))
      }
      promise.onAbandonment { check.cancel() }
    }
  }

  private enum Reading {
    case request(CheckRequest)
    case invalidTarget(CheckModule)
  }

  private static func response(_ body: [UInt8]) -> HTTPResponse {
    var headers = RepresentationHeaders.headers(.text)
    headers["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8"
    return HTTPResponse(headers: headers, body: .bytes(body))
  }

  /// Returns the series of a failure, as blackbox_exporter does: with an error, the scrape fails, and an alert on
  /// `probe_success` cannot fire.
  private static func invalidTarget(_ module: CheckModule) -> HTTPResponse {
    var page = MetricExposition()
    ProbeMetrics.write(
      CheckResult(.unknown, startedAt: .now, duration: .zero), module, failure: Problem.Code.badTarget.rawValue,
      to: &page)
    return response(page.bytes)
  }

  private static func read(_ context: RequestContext) throws(Problem) -> Reading {
    guard let text = context.query["target"], !text.isEmpty else {
      throw Problem(.badTarget, "target is missing; expected for example /probe?target=db:5432&module=tcp_connect")
    }
    let name = context.query["module"] ?? defaultModule
    guard let known = context.service.targets.modulesByName[name] else {
      let names = context.service.targets.modulesByName.keys.sorted().joined(separator: ", ")
      throw Problem(.badRequest, "unknown module \(name.debugDescription); expected one of \(names)")
    }
    let module = blackboxEquivalent(known)
    let timeout = try timeout(context.request.headers)
    let hostname = try hostname(context.query["hostname"], module)
    let request: CheckRequest
    do throws(TargetError) {
      request = CheckRequest(
        try target(text, for: module), module: module, timeout: timeout, hostname: hostname,
        policy: context.service.targets.policy())
    } catch {
      return .invalidTarget(module)
    }
    if request.moduleVerdict == .denied { throw Problem(CheckPlan.InvalidParameters(deniedModule: name)) }
    return .request(request)
  }

  /// Returns a built-in module with blackbox_exporter's defaults: HTTP follows redirects unless configured otherwise.
  private static func blackboxEquivalent(_ module: CheckModule) -> CheckModule {
    guard var options = module.options[HTTPOptions.self], CheckModule.builtIn.contains(module) else { return module }
    options.maximumRedirects = HTTPOptions.redirectLimit
    var module = module
    module.options = .http(options)
    return module
  }

  /// Returns the name for the field `Host` and for TLS; nil without one, and for modules without either.
  private static func hostname(_ text: String?, _ module: CheckModule) throws(Problem) -> String? {
    guard let text, !text.isEmpty, module.options.value.handshake != nil else { return nil }
    let field = module.options[HTTPOptions.self]?.headers.first { $0.name.lowercased() == "host" }
    if let field, field.value != text {
      throw Problem(
        .badRequest, "the module \(module.name) has a header field Host; omit hostname or use another module")
    }
    switch (try? ReachabilityTarget(host: text))?.remote {
    case .name: return text
    case .address(let address) where address.family == .ipv4: return text
    default:
      throw Problem(.badRequest, "hostname must be a host name such as www.example.org, got \(text.debugDescription)")
    }
  }

  /// Parses a target as for blackbox_exporter: without a scheme, which the module determines.
  private static func target(_ text: String, for module: CheckModule) throws(TargetError) -> CheckTarget {
    let scheme = type(of: module.options.value).schemes.first?.rawValue ?? ""
    var full = text.contains("://") ? text : "\(scheme)://\(text)"
    // In blackbox_exporter the module has the DNS question, and the target is only the server.
    if let question = module.options[DNSOptions.self]?.question,
      !full.dropFirst("dns://".count).contains("/")
    {
      full += question.pathAndQuery
    }
    let target = try CheckTarget(full)
    guard module.fits(target.scheme) else {
      throw TargetError(
        "the module \(module.name) does not support \(target.scheme.rawValue):// targets",
        hint: "omit the scheme or use another module")
    }
    return target
  }

  /// Returns the scrape timeout of Prometheus minus the margin; 5 s without the header.
  private static func timeout(_ headers: HTTPHeaders) throws(Problem) -> Duration {
    let standard = Duration.seconds(5)
    guard let text = headers["X-Prometheus-Scrape-Timeout-Seconds"] else { return standard }
    guard let seconds = Double(text), seconds >= 0.001, seconds <= 3_600 else {
      throw Problem(
        .badRequest,
        "X-Prometheus-Scrape-Timeout-Seconds must be a number between 0.001 and 3600, got \(text.debugDescription)")
    }
    let left = Duration.seconds(seconds) - scrapeMargin
    return left > .zero ? min(left, CheckPlan.timeoutLimit) : .seconds(seconds) / 2
  }

  private static func debug(_ outcome: CheckOutcome, _ page: MetricExposition, _ snapshot: Snapshot) -> [UInt8] {
    let diagnosis = CheckExplanationRepresentation.text(Diagnosis(of: outcome, in: snapshot))
    return Array("Diagnosis:\n\(diagnosis)\nSeries:\n".utf8) + page.bytes
      + Array("\nModule:\n\(outcome.request.module.name)\n".utf8)
  }
}
