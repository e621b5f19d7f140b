internal import EmbeddedHTTPServer

/// `GET /metrics`: the metrics for Prometheus.
enum MetricsRoutes {
  static let metrics = APIRoute(
    pattern: "/metrics", mediaTypes: [.text], summary: "the metrics of the service, for Prometheus"
  ) { (context) throws(Problem) in
    let metrics = context.service.metrics
    return .later { promise in
      // In a task: counting ten thousand descriptors takes milliseconds, and other clients share this thread.
      Task.detached {
        var headers = RepresentationHeaders.headers(.text)
        headers["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8"
        promise.fulfil(HTTPResponse(headers: headers, body: .bytes(metrics.exposition)))
      }
    }
  }
}
