package import ReachabilityModel

/// A change of a registered target, before it gets its number in the sequence of transitions (ADR 21).
package struct EngineTargetChange: Equatable, Sendable {
  /// The state before; equal to the present one when something else has changed.
  package var from: TargetState
  /// The target after the change, or before its removal.
  package var report: TargetReport
  /// The causes.
  package var causes: Set<Cause>
  /// Whether the target was removed.
  package var isRemoved: Bool

  /// A change from its parts.
  package init(from: TargetState, report: TargetReport, causes: Set<Cause>, isRemoved: Bool = false) {
    self.from = from
    self.report = report
    self.causes = causes
    self.isRemoved = isRemoved
  }
}
