package import ReachabilityModel

/// A change of a registered target, before it gets its number in the sequence of transitions (ADR 21).
package struct EngineTargetChange: Equatable, Sendable {
  /// The state before; equal to the present one when something else has changed.
  package var from: TargetState
  /// The target after the change, or before its removal.
  package var report: TargetReport
  package var causes: Set<Cause>
  package var isRemoved: Bool

  package init(from: TargetState, report: TargetReport, causes: Set<Cause>, isRemoved: Bool = false) {
    self.from = from
    self.report = report
    self.causes = causes
    self.isRemoved = isRemoved
  }
}

/// A change of a gate, before it gets its number in the sequence of transitions (ADR 77).
package struct EngineGateChange: Equatable, Sendable {
  /// The state before; nil for a gate that was added.
  package var from: GateState?
  /// The gate after the change, or before its removal.
  package var report: GateReport
  package var causes: Set<Cause>
  package var isRemoved: Bool

  package init(from: GateState?, report: GateReport, causes: Set<Cause>, isRemoved: Bool = false) {
    self.from = from
    self.report = report
    self.causes = causes
    self.isRemoved = isRemoved
  }
}
