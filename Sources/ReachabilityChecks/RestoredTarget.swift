internal import Locks
public import ReachabilityModel

/// A registered target of an earlier process.
public struct RestoredTarget: Hashable, Sendable {
  /// What is checked.
  public var definition: TargetDefinition
  /// The origin of its registration.
  public var origin: TargetOrigin
  /// The revision of its definition.
  public var revision: UInt64
  /// The number of state changes that were published since then.
  public var changes: UInt64
  /// Its status.
  public var status: TargetStatus.Restorable
  /// Whether the configuration paused it; nil for targets of clients.
  public var isPausedByConfiguration: Bool?
  /// The id of the token whose quota has it; nil for none.
  public var token: String?

  /// Creates a target from its parts.
  public init(
    definition: TargetDefinition, origin: TargetOrigin, revision: UInt64, changes: UInt64,
    status: TargetStatus.Restorable, isPausedByConfiguration: Bool? = nil, token: String? = nil
  ) {
    self.definition = definition
    self.origin = origin
    self.revision = revision
    self.changes = changes
    self.status = status
    self.isPausedByConfiguration = isPausedByConfiguration
    self.token = token
  }
}

extension CheckSchedule {
  /// Continues with the targets of an earlier process, before ``configure(_:)``; nothing is published.
  ///
  /// Targets of clients and of the fleet are registered. Those of the configuration keep status and revision if it still has them.
  ///
  /// - Parameters:
  ///   - targets: the targets.
  ///   - firstRevision: a number above all revisions that earlier processes used.
  ///   - idle: the time since an earlier process has stored something; nil when the machine was started since then. A
  ///     restored `up` counts for gates only if this is short.
  public func restore(_ targets: [RestoredTarget], firstRevision: UInt64, idle: Duration? = nil) {
    guarded.withLock { $0.restore(targets, firstRevision: firstRevision, idle: idle, at: now()) }
  }
}

extension ScheduleState {
  /// Registers the targets of clients, and keeps those of the configuration for their registration.
  mutating func restore(_ targets: [RestoredTarget], firstRevision: UInt64, at now: ScheduleMoment) {
    setFirstRevision(firstRevision)
    for target in targets where entries[target.definition.id] == nil {
      restored[target.definition.id] = target
      guard target.origin != .configuration else { continue }
      _ = put(target.definition, target.origin, by: target.token.map(TargetAccount.token) ?? .anonymous, at: now)
    }
  }
}

extension ScheduleEntry {
  /// Applies what an earlier process stored about the target, which was just registered.
  ///
  /// - Returns: the state before, if the definition has changed since then.
  func restore(_ target: RestoredTarget, idle: Duration?) -> TargetState? {
    isOutdated = idle.map { $0 >= max(definition.interval * 2, Limits.restoredResult) } ?? true
    guard target.definition == report.definition else {
      // Another check, or other settings of it, or paused or resumed by the file.
      if target.definition.isSameCheck(as: report.definition), !report.definition.isPaused,
        target.status.state != .paused
      {
        report.status = TargetStatus(restoring: target.status)
        isBad = target.status.state.isFailure
      }
      return target.status.state
    }
    report.revision = target.revision
    report.changes = target.changes
    report.status = TargetStatus(restoring: target.status)
    isBad = target.status.state.isFailure
    reason = ScheduleReasonDebouncer(report.status.reason)
    return nil
  }
}
