internal import MicroHTTP
internal import NetworkReachability
internal import ReachabilityChecks

/// `GET /probe`: what a Prometheus that is configured for blackbox_exporter asks.
enum ProbeRoutes {
  /// The part of the scrape's own deadline that is left for the way back, as blackbox_exporter leaves it.
  static let scrapeMargin = Duration.milliseconds(500)
  /// The module where none is named, as with blackbox_exporter.
  static let standardModule = "http_2xx"

  static let probe = Route(
    pattern: "/probe", parameters: ["target", "module", "debug"], scope: .check, offers: [.text],
    summary: "one active check as series, for a Prometheus configured for blackbox_exporter"
  ) { (exchange) throws(Problem) in
    let request = try request(exchange)
    try CheckRoutes.admit(1, exchange)
    let isDebug = exchange.query["debug"] == "true"
    return .later { promise in
      let check = exchange.service.checks.checker.check(request) { outcome in
        // A redirect that is denied is the answer of a target that was asked: it has evidence.
        if outcome.result.evidence.http == nil, let denial = Problem(denialOf: outcome) {
          return promise.fulfil(exchange.answer(denial))
        }
        var page = MetricsPage()
        ProbeSeries.write(outcome, to: &page)
        var headers = StateHeaders.headers(.text)
        headers["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8"
        let body = isDebug ? debug(outcome, page, exchange.service.monitor.snapshot) : page.bytes
        promise.fulfil(HTTPResponse(headers: headers, body: .bytes(body)))
      }
      promise.whenAbandoned { check.cancel() }
    }
  }

  private static func request(_ exchange: Exchange) throws(Problem) -> ProbeRequest {
    guard let text = exchange.query["target"], !text.isEmpty else {
      throw Problem(.badTarget, "The target is missing; write /probe?target=db:5432&module=tcp_connect.")
    }
    let name = exchange.query["module"] ?? standardModule
    guard let known = exchange.service.checks.modules[name] else {
      let names = exchange.service.checks.modules.keys.sorted().joined(separator: ", ")
      throw Problem(.badRequest, "There is no module \(name.debugDescription); there are \(names).")
    }
    let module = asThere(known)
    let timeout = try timeout(exchange.request.headers)
    let request: ProbeRequest
    do throws(TargetError) {
      request = ProbeRequest(
        try target(text, for: module), module: module, timeout: timeout, policy: exchange.service.checks.policy())
    } catch {
      throw Problem(.badTarget, "\(error.problem); \(error.hint).")
    }
    if request.moduleVerdict == .denied { throw Problem(CheckPlan.Refusal(deniedModule: name)) }
    return request
  }

  /// A built-in module as blackbox_exporter's configuration has it: there HTTP follows redirects unless told otherwise.
  private static func asThere(_ module: ProbeModule) -> ProbeModule {
    guard case .http(var recipe) = module.recipe, ProbeModule.builtIn.contains(module) else { return module }
    recipe.maximumRedirects = HTTPRecipe.mostRedirects
    var module = module
    module.recipe = .http(recipe)
    return module
  }

  /// The target as blackbox_exporter's users write it: without a scheme, which the module knows.
  private static func target(_ text: String, for module: ProbeModule) throws(TargetError) -> ProbeTarget {
    let scheme: ProbeTarget.Scheme =
      switch module.recipe {
      case .route: .route
      case .tcp: .tcp
      case .icmp: .icmp
      case .http: .http
      case .tls: .tls
      case .dns: .dns
      }
    var full = text.contains("://") ? text : "\(scheme.rawValue)://\(text)"
    // There the module says what is asked, and the target only whom.
    if case .dns(let recipe) = module.recipe, let question = recipe.question,
      !full.dropFirst("dns://".count).contains("/")
    {
      full += question.pathAndQuery
    }
    let target = try ProbeTarget(full)
    guard module.fits(target.scheme) else {
      throw TargetError(
        "the module \(module.name) is not for \(target.scheme.rawValue):// targets",
        hint: "leave the scheme out or name another module")
    }
    return target
  }

  /// What Prometheus gives itself for the scrape, less what the way back takes; 5 s when nobody says.
  private static func timeout(_ headers: HTTPHeaders) throws(Problem) -> Duration {
    let standard = Duration.seconds(5)
    guard let text = headers["X-Prometheus-Scrape-Timeout-Seconds"] else { return standard }
    guard let seconds = Double(text), seconds >= 0.001, seconds <= 3_600 else {
      throw Problem(
        .badRequest, "X-Prometheus-Scrape-Timeout-Seconds: \(text.debugDescription) is no number of seconds.")
    }
    let left = Duration.seconds(seconds) - scrapeMargin
    return left > .zero ? min(left, CheckPlan.longestTimeout) : .seconds(seconds) / 2
  }

  private static func debug(_ outcome: CheckOutcome, _ page: MetricsPage, _ snapshot: Snapshot) -> [UInt8] {
    let ladder = ExplanationBody.text(Diagnosis(of: outcome, in: snapshot))
    return Array("Ladder:\n\(ladder)\nSeries:\n".utf8) + page.bytes
      + Array("\nModule:\n\(outcome.request.module.name)\n".utf8)
  }
}
