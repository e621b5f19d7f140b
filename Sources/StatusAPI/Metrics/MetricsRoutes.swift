internal import HTTPRouting

/// `GET /metrics`: the metrics for Prometheus.
enum MetricsRoutes {
  static let metrics = NodeRoute(
    pattern: "/metrics", mediaTypes: [.text], queueing: .always, summary: "the metrics of the service, for Prometheus"
  ) { (context) throws(Problem) in
    var headers = RepresentationHeaders.headers(.text)
    headers["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8"
    return .now(HTTPResponse(headers: headers, body: .bytes(context.service.metrics.exposition)))
  }
}
