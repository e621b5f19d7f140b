internal import Webhooks

extension MetricCollector {
  /// Returns the metrics of the webhooks, by id.
  static func webhooks(_ reports: @escaping @Sendable () -> [WebhookReport]) -> MetricCollector {
    MetricCollector { page in
      let reports = reports()
      guard !reports.isEmpty else { return }
      page.add(
        "reachd_webhook_deliveries_total", .counter, "Attempts and given up messages, by webhook and result.",
        reports.flatMap { report in
          WebhookDeliveryRecord.Result.allCases.map { result in
            .init(
              Double(report.totals[result] ?? 0), ["webhook": report.definition.id, "result": result.rawValue])
          }
        })
      page.add(
        "reachd_webhook_pending", .gauge,
        "Events after the last delivered one, including those that the filter excludes.",
        reports.map { .init(Double($0.pending), ["webhook": $0.definition.id]) })
      page.add(
        "reachd_webhook_oldest_seconds", .gauge, "Age of the oldest undelivered event, in seconds; 0 for none.",
        reports.map { .init(($0.oldest ?? .zero) / .seconds(1), ["webhook": $0.definition.id]) })
      page.add(
        "reachd_webhook_held", .gauge, "Whether events wait for a route to the receiver, 1 or 0.",
        reports.map { .init($0.state == .held ? 1 : 0, ["webhook": $0.definition.id]) })
      page.add(
        "reachd_webhook_paused", .gauge, "Whether a client or the receiver has paused the webhook, 1 or 0.",
        reports.map { .init($0.pause == nil ? 0 : 1, ["webhook": $0.definition.id]) })
    }
  }
}
