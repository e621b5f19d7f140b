internal import Events
internal import JSONFormat
internal import ReachabilityChecks

/// The JSON document of a registered target.
///
/// This is a public format: members may be added, not changed or removed.
package enum TargetRepresentation {
  /// Returns one line without its line end: `down db tcp://10.9.0.1:5432 refused since 2026-01-01T00:00:00.000000Z`.
  static func line(_ report: TargetReport, _ visibility: TargetVisibility) -> String {
    let (definition, status) = (report.definition, report.status)
    return line(
      state: status.state.rawValue, id: definition.id, target: visibility.text(definition.target),
      reason: status.reason?.rawValue, dependency: status.dependency, isPending: status.isPending,
      isFlapping: status.isFlapping,
      since: status.since.description)
  }

  /// Returns the line of a target from the members of its document.
  package static func line(
    state: String, id: String, target: String, reason: String?, dependency: String?, isPending: Bool, isFlapping: Bool,
    since: String
  ) -> String {
    var words = [state, id, target] + [reason, dependency].compactMap(\.self)
    if isPending { words.append("pending") }
    if isFlapping { words.append("flapping") }
    return (words + ["since", since]).joined(separator: " ").withoutControls
  }

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
        .init(name: "dependsOn", value: TargetSummary.dependsOn(definition.dependsOn)),
        .init(name: "origin", value: .string(report.origin.rawValue)),
        .init(
          name: "lastCheck",
          value: report.lastOutcome(monitor).map { CheckRepresentation.document([$0]) } ?? .null),
      ])
  }

  /// Returns a duration in seconds, or null.
  static func seconds(_ duration: Duration?) -> JSON { duration.map { .number($0 / .seconds(1)) } ?? .null }
}
