internal import Events
internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityChecks

/// The JSON document of a registered target.
///
/// This is a public format: members may be added, not changed or removed.
enum TargetRepresentation {
  /// Returns the whole document: the state, the definition, and the result of the last check.
  static func document(
    _ report: TargetReport, _ visibility: TargetVisibility, _ monitor: ReachabilityMonitor
  ) -> JSON {
    let definition = report.definition
    return .object(
      TargetSummary.members(report, url: visibility.text(definition.target)) + [
        .init(name: "intervalSeconds", value: seconds(definition.interval)),
        .init(name: "timeoutSeconds", value: seconds(definition.timeout)),
        .init(name: "fastIntervalSeconds", value: seconds(definition.fastInterval)),
        .init(name: "fall", value: .integer(Int64(definition.fall))),
        .init(name: "rise", value: .integer(Int64(definition.rise))),
        .init(name: "paused", value: .bool(definition.isPaused)),
        .init(name: "origin", value: .string(report.origin.rawValue)),
        .init(
          name: "lastCheck",
          value: report.lastOutcome(monitor).map { CheckRepresentation.document([$0]) } ?? .null),
      ])
  }

  /// Returns a duration in seconds, or null.
  static func seconds(_ duration: Duration?) -> JSON { duration.map { .number($0 / .seconds(1)) } ?? .null }
}
