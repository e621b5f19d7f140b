internal import NetworkReachability

/// What a registered target looks like on the wire.
///
/// Additive changes only.
enum TargetBody {
  /// The target and its state, without its last check: what an event carries.
  static func summary(_ report: TargetReport) -> [JSON.Member] {
    let (definition, status) = (report.definition, report.status)
    let labels = definition.labels.sorted { $0.key < $1.key }
    return [
      .init(name: "id", value: .string(definition.id)),
      .init(name: "target", value: .string(definition.target.description)),
      .init(name: "module", value: .string(definition.module.name)),
      .init(name: "labels", value: .object(labels.map { .init(name: $0.key, value: .string($0.value)) })),
      .init(name: "state", value: .string(status.state.rawValue)),
      .init(name: "reason", value: .text(status.reason?.rawValue)),
      .init(name: "since", value: .string(status.since.description)),
      .init(name: "pending", value: .bool(status.isPending)),
      .init(name: "flapping", value: .bool(status.isFlapping)),
      .init(name: "consecutiveFailures", value: .integer(Int64(status.consecutiveFailures))),
    ]
  }

  /// A duration in seconds, or null.
  static func seconds(_ duration: Duration?) -> JSON { duration.map { .number($0 / .seconds(1)) } ?? .null }
}
