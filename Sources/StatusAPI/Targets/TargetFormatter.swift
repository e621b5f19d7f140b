public import JSONFormat
internal import ReachabilityChecks
public import ReachabilityModel

/// Registered targets as text: `down db tcp://10.9.0.1:5432 refused since 2026-01-01T00:00:00.000000Z`.
public enum TargetFormatter {
  /// Returns one line without its line end.
  static func line(_ report: TargetReport, _ visibility: TargetVisibility) -> String {
    let (definition, status) = (report.definition, report.status)
    return line(
      state: status.state.rawValue, id: definition.id, target: visibility.text(definition.target),
      reason: status.reason?.rawValue, isPending: status.isPending, isFlapping: status.isFlapping,
      since: status.since.description)
  }

  /// Returns the state and the line of a target in a page of `GET /targets`; nil for an invalid document.
  public static func line(_ document: JSON) -> (state: TargetState, line: String)? {
    guard let state = document["state"]?.string.flatMap(TargetState.init), let id = document["id"]?.string,
      let target = document["target"]?.string, let since = document["since"]?.string
    else { return nil }
    let line = line(
      state: state.rawValue, id: id, target: target, reason: document["reason"]?.string,
      isPending: document["pending"] == .bool(true), isFlapping: document["flapping"] == .bool(true), since: since)
    return (state, line)
  }

  private static func line(
    state: String, id: String, target: String, reason: String?, isPending: Bool, isFlapping: Bool, since: String
  ) -> String {
    var words = [state, id, target]
    if let reason { words.append(reason) }
    if isPending { words.append("pending") }
    if isFlapping { words.append("flapping") }
    return (words + ["since", since]).joined(separator: " ").withoutControls
  }
}
