package import ReachabilityModel

/// A change of a registered target that is to be told in the one history, before it has a number there (ADR 21).
package struct TargetNews: Equatable, Sendable {
  /// The state before; the same as now when something else has changed.
  package var from: TargetState
  /// The target as it is now, or was last.
  package var report: TargetReport
  /// What brought it about.
  package var causes: Set<Cause>
  /// Whether it is registered no more.
  package var isRemoved: Bool

  /// News from its parts.
  package init(from: TargetState, report: TargetReport, causes: Set<Cause>, isRemoved: Bool = false) {
    self.from = from
    self.report = report
    self.causes = causes
    self.isRemoved = isRemoved
  }
}
