internal import EmbeddedHTTPServer

/// `GET /metrics`: for Prometheus.
enum MetricsRoutes {
  static let metrics = Route(
    pattern: "/metrics", mediaTypes: [.text], summary: "the service and its verdict in numbers, for Prometheus"
  ) { (context) throws(Problem) in
    let metrics = context.service.metrics
    return .later { promise in
      // Elsewhere: to count ten thousand descriptors takes milliseconds, and other clients wait for this thread.
      Task.detached {
        var headers = RepresentationHeaders.headers(.text)
        headers["Content-Type"] = "text/plain; version=0.0.4; charset=utf-8"
        promise.fulfil(HTTPResponse(headers: headers, body: .bytes(metrics.exposition)))
      }
    }
  }
}
