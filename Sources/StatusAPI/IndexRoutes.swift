internal import Compression
internal import Contract
internal import JSONFormat
internal import HTTPRouting
internal import StatusPage

/// `GET /` and `GET /openapi.yaml`: the list of routes and the contract.
enum IndexRoutes {
  static let index = makeIndex(listing: [], page: StatusPage.document)

  /// Returns the index of a node's routes and of further ones.
  static func makeIndex(listing others: [RouteDeclaration], page: StatusPage.File) -> NodeRoute {
    NodeRoute(
      pattern: "/", parameters: ["kiosk"], scope: nil, mediaTypes: [.json, .text, .html],
      summary: "this index; for browsers, the status page"
    ) { (context) throws(Problem) in
      if context.media == .html, context.service.settings.current.servesPage {
        return .now(PageRoutes.document(page, context))
      }
      return .now(answer(RouteTable.declarations + others, context))
    }
  }

  private static func answer(_ routes: [RouteDeclaration], _ context: RequestContext) -> HTTPResponse {
    let media = context.media == .html ? .json : context.media
    let body: [UInt8]
    if media == .text {
      let width = routes.map(\.pattern.count).max() ?? 0
      let lines = routes.map { route in
        "\(route.method) \(route.pattern)\(String(repeating: " ", count: width - route.pattern.count))  \(route.summary)\n"
      }
      body = Array("reachd \(context.service.version) (commit \(context.service.commit))\n\n\(lines.joined())".utf8)
    } else {
      let endpoints = routes.map { route in
        JSON.members([
          "method": .string(route.method), "path": .string(route.pattern), "summary": .string(route.summary),
        ])
      }
      body =
        JSON.members([
          "name": "reachd", "version": .string(context.service.version), "commit": .string(context.service.commit),
          "endpoints": .array(endpoints),
        ]).bytes + [0x0a]
    }
    return HTTPResponse(headers: RepresentationHeaders.headers(media), body: .bytes(body))
  }

  private static let contractHeaders = SecurityHeaders.merged(into: [
    "Content-Type": "application/yaml", "Cache-Control": "max-age=3600", "Vary": "Accept-Encoding, Origin",
  ])
  /// The contract, and its compressed form, which is made at the first request.
  private static let contract = SharedResponseBody(headers: contractHeaders, bytes: Contract.bytes)
  private static let compressedContract = Gzip.compressed(Contract.bytes).map { bytes in
    var headers = contractHeaders
    headers["Content-Encoding"] = "gzip"
    return SharedResponseBody(headers: headers, bytes: bytes)
  }

  static let openAPI = NodeRoute(
    pattern: "/openapi.yaml", scope: nil, mediaTypes: [.yaml], summary: "the contract (OpenAPI 3.1)"
  ) { (context) throws(Problem) in
    let compressed = ContentCoding.acceptsGzip(context.request) ? compressedContract : nil
    return .now(HTTPResponse(shared: compressed ?? contract))
  }
}

/// Every route of a node, in the order of the index.
///
/// `openapi.yaml` lists the same routes.
enum RouteTable {
  static let declarations = all.map(\.declaration)

  static let all: [NodeRoute] =
    [IndexRoutes.index, StateRoutes.status, HostRoutes.host, StateRoutes.interfaces, EventRoutes.events]
    + SingleCheckRoutes.all + TargetRoutes.all + GateRoutes.all
    + [
      HistoryRoutes.history, HistoryRoutes.targetHistory, UptimeRoutes.target, UptimeRoutes.all, LatencyRoutes.latency,
      BadgeRoutes.badge, GateHistoryRoutes.history, GateHistoryRoutes.uptime,
    ]
    + WebhookRoutes.all + HealthRoutes.all + [MetricsRoutes.metrics, IndexRoutes.openAPI, PageRoutes.file]
}
