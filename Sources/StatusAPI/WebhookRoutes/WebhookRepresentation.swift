internal import JSONFormat
internal import NetworkReachability
internal import Webhooks

/// The documents of webhooks.
///
/// This is a public format: members may be added, not changed or removed.
enum WebhookRepresentation {
  static func document(_ report: WebhookReport) -> JSON {
    let (definition, filter) = (report.definition, report.definition.filter)
    return .members([
      "id": .string(definition.id),
      "origin": .string(definition.origin),
      "state": .string(report.state.rawValue),
      "pausedBy": report.pause.map { .string($0 == .gone ? "receiver" : "client") } ?? .null,
      "position": .text(report.position),
      "pending": .integer(Int64(clamping: report.pending)),
      "oldestSeconds": TargetRepresentation.seconds(report.oldest),
      "failures": .integer(Int64(report.failures)),
      "nextAttempt": .text(report.nextAttempt?.description),
      "lastDelivery": .text(report.lastDelivery?.description),
      "lastFailure": report.lastFailure.map(entry) ?? .null,
      "types": .list(filter.types.sorted()),
      "states": .list(filter.states.sorted()),
      "targets": .list(filter.targets.sorted()),
      "labels": .object(filter.labels.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .string($0.value)) }),
      "timeoutSeconds": TargetRepresentation.seconds(definition.timeout),
      "maxAgeSeconds": TargetRepresentation.seconds(definition.maximumAge),
      "deniedRetrySeconds": TargetRepresentation.seconds(definition.deniedRetry),
      "signatures": .integer(Int64(definition.secrets.count)),
    ])
  }

  static func entry(_ record: WebhookDeliveryRecord) -> JSON {
    .members([
      "event": .string(record.message),
      "time": .string(record.time.description),
      "result": .string(record.result.rawValue),
      "status": record.status.map { .integer(Int64($0)) } ?? .null,
      "durationSeconds": TargetRepresentation.seconds(record.duration),
      "detail": .text(record.detail),
    ])
  }
}
