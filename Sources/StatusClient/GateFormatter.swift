internal import Events
package import JSONFormat
internal import ReachabilityModel

/// The text that commands print about gates.
package enum GateFormatter {
  /// Returns the line of a gate's document, without its line end; nil for another document.
  package static func line(_ document: JSON) -> String? { GateDocument.line(document) }

  /// Returns the line of an event about a gate, with its time; nil for another event.
  package static func event(_ data: JSON) -> String? {
    guard let time = data["time"]?.string, let gate = data["gate"], let id = gate["id"]?.string else { return nil }
    if data["removed"] == .bool(true) { return "\(time) removed \(id)".withoutControls }
    return GateDocument.line(gate).map { "\(time) \($0)" }
  }
}
