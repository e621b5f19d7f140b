internal import ReachabilityModel

/// The rules by which the members of a gate and this machine's status decide about it: pure functions without a clock.
enum GateRules {
  /// Why the conditions of a gate do not hold; nil when all of them hold.
  ///
  /// - Parameters:
  ///   - definition: the gate.
  ///   - named: the members that it names, by their states.
  ///   - selected: the members that its labels select, by their states.
  ///   - isTooLarge: whether it selects more targets than the limit.
  ///   - machine: this machine's status.
  /// - Returns: the first reason that applies.
  static func obstacle(
    _ definition: GateDefinition, named: GateCounts, selected: GateCounts, isTooLarge: Bool,
    machine: ReachabilityStatus
  ) -> Reason? {
    if named[.notRegistered] > 0 { return .notRegistered }
    let namedTotal = count(named, definition)
    let selectedTotal = count(selected, definition)
    // A typing error in a label must not open a gate, nor must a gate be open because all of its targets are paused.
    if !definition.selection.isEmpty, selectedTotal == 0, !isTooLarge { return .noMembers }
    if !definition.targets.isEmpty, namedTotal == 0 { return .noMembers }
    if isTooLarge { return .tooManyMembers }
    if let condition = definition.machine, !condition.isFulfilled(by: machine) { return .machine }
    let needed = definition.selection.isEmpty ? 0 : definition.atLeast.needed(of: selectedTotal)
    if named[.up] == namedTotal, selected[.up] >= needed { return nil }
    // Members without a result may still be up: without them, the gate would be closed in any case.
    let mayOpen = named[.up] + named[.starting] == namedTotal && selected[.up] + selected[.starting] >= needed
    return mayOpen ? .starting : .missing
  }

  /// The number of members on which the rules depend.
  private static func count(_ counts: GateCounts, _ definition: GateDefinition) -> Int {
    counts.total - (definition.ignoresPaused ? counts[.paused] : 0)
  }
}

/// Whether a gate is open: a pure state machine.
struct GateSwitch: Hashable {
  /// The state.
  private(set) var state: GateState
  /// Why it is closed.
  private(set) var reason: Reason?
  /// When it entered the state.
  private(set) var since: Timestamp
  /// Since when all conditions hold while it is closed; nil when one does not.
  private var holdsSince: Duration?
  /// Before this time it does not open again, so that a gate whose members flap has few events.
  private var notBefore = Duration.zero

  /// Makes a switch that is closed.
  init(at time: Timestamp) { (state, reason, since) = (.closed, .starting, time) }

  /// Makes the switch that an earlier process stored.
  init(restoring state: GateState, since: Timestamp) {
    (self.state, reason, self.since) = (state, state == .open ? nil : .starting, since)
  }

  /// When it opens unless a condition fails before; nil while none of that is planned.
  func opening(after delay: Duration) -> Duration? { holdsSince.map { max($0 + delay, notBefore) } }

  /// Forgets since when the conditions hold, because they are others now.
  mutating func restart() { holdsSince = nil }

  /// Applies the rules' result.
  ///
  /// - Parameters:
  ///   - obstacle: the result of ``GateRules/obstacle(_:named:selected:isTooLarge:machine:)``.
  ///   - delay: how long the conditions must hold before it opens.
  ///   - now: the present time.
  /// - Returns: whether the state has changed.
  mutating func apply(_ obstacle: Reason?, delay: Duration, at now: ScheduleMoment) -> Bool {
    guard let obstacle else {
      guard state == .closed else { return false }
      holdsSince = holdsSince ?? now.uptime
      reason = .settling
      guard let opening = opening(after: delay), now.uptime >= opening else { return false }
      (state, reason, since, holdsSince) = (.open, nil, now.time, nil)
      return true
    }
    holdsSince = nil
    reason = obstacle
    guard state == .open else { return false }
    // It closes immediately: only the next opening waits.
    (state, since, notBefore) = (.closed, now.time, now.uptime + Limits.gatePause)
    return true
  }
}
