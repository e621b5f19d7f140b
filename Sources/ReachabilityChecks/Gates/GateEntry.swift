internal import ReachabilityModel

/// A gate with its members and its state.
struct GateEntry {
  var definition: GateDefinition
  var origin: TargetOrigin
  var revision: UInt64
  /// The number of changes of the document since the revision.
  var changes: UInt64 = 0
  var members = GateMembers()
  /// Whether it selects too many targets; it has only those that it names then.
  var isTooLarge = false
  /// The worst members; nil until they are asked for after a change.
  var missing: [String]?
  private(set) var state: GateSwitch
  /// When it may open, on both clocks; nil while a condition does not hold.
  private(set) var opening: ScheduleMoment?

  init(
    _ definition: GateDefinition, _ origin: TargetOrigin, revision: UInt64, changes: UInt64, state: GateSwitch
  ) {
    (self.definition, self.origin, self.revision, self.changes) = (definition, origin, revision, changes)
    self.state = state
    // The conditions are others now.
    self.state.restart()
  }

  /// Decides about the gate.
  ///
  /// - Parameters:
  ///   - machine: this machine's status.
  ///   - isTouched: whether its members have changed.
  ///   - now: the present time.
  /// - Returns: whether its document has changed, and the state before if that is another one now.
  mutating func decide(
    _ machine: ReachabilityStatus, isTouched: Bool, at now: ScheduleMoment
  ) -> (isChanged: Bool, before: GateState?) {
    let old = state
    let obstacle = GateRules.obstacle(
      definition, named: members.named, selected: members.selected, isTooLarge: isTooLarge, machine: machine)
    let isOther = state.apply(obstacle, delay: definition.openAfter, at: now)
    guard isTouched || state != old else { return (false, nil) }
    let due = state.opening(after: definition.openAfter)
    if opening?.uptime != due {
      opening = due.map {
        let rest = ($0 - now.uptime) / .microseconds(1)
        return ScheduleMoment(uptime: $0, time: Timestamp(microseconds: now.time.microseconds &+ Int64(rest)))
      }
    }
    changes += 1
    missing = nil
    return (true, isOther ? old.state : nil)
  }

  /// The gate as clients see it.
  func report(missing: [String]) -> GateReport {
    let status = GateStatus(
      state: state.state, reason: state.reason, since: state.since, opensAt: opening?.time, counts: members.counts,
      missing: missing)
    return GateReport(definition: definition, origin: origin, revision: revision, changes: changes, status: status)
  }
}
