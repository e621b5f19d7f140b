internal import Locks
public import ReachabilityModel

extension CheckSchedule {
  /// The limits of registered targets and of checks, and their use.
  public var quota: ScheduleQuota { ScheduleQuota(schedule: self) }
}

/// The limits of a schedule and their use.
public struct ScheduleQuota: Sendable {
  fileprivate let schedule: CheckSchedule

  /// The limits of registered targets and of the rate of checks; what exceeds lowered limits stays, but does not grow.
  public var limits: ScheduleLimits {
    get { schedule.guarded.withLock { $0.state.ledger.limits } }
    nonmutating set { schedule.guarded.withLock { $0.state.ledger.limits = newValue } }
  }

  /// What registered targets use of the limits.
  public var usage: ScheduleUsage {
    schedule.guarded.withLock { guarded in
      let (total, limits) = (guarded.state.ledger.total, guarded.state.ledger.limits)
      return ScheduleUsage(
        targets: total.targets, checksPerSecond: total.checksPerSecond, memory: total.memory, limits: limits)
    }
  }

  /// How many targets are not of the configuration file: those of clients, and of the fleet.
  public var otherTargets: Int {
    schedule.guarded.withLock { $0.state.entries.count - ($0.state.ledger.accounts[.file]?.targets ?? 0) }
  }

  /// Takes over the limits of a new configuration and reserves what its targets need, until ``CheckSchedule/configure(_:)`` places
  /// them; callers' registrations meanwhile leave that room free.
  ///
  /// - Throws: the limit that the targets exceed together with those of callers; nothing has changed then.
  public func reserve(_ definitions: [TargetDefinition], _ limits: ScheduleLimits) throws(QuotaExcess) {
    let definitions = definitions.map(\.bounded)
    let result = schedule.guarded.withLock { guarded -> Result<Void, QuotaExcess> in
      let takenOver = definitions.compactMap { guarded.state.entries[$0.id] }.filter { $0.account != .file }
      return Result { () throws(QuotaExcess) in
        try guarded.state.ledger.reserve(definitions, limits, takenOver: QuotaUsage(takenOver.map(\.definition)))
      }
    }
    try result.get()
  }

  /// Counts checks on demand against what the scheduled checks leave of the account's rate and of the global one.
  public func admit(_ count: Int, for account: TargetAccount) -> CheckAdmission {
    schedule.guarded.withLock { $0.state.ledger.admit(count, for: account, at: schedule.now().uptime) }
  }

  /// Counts further addresses that admitted checks have contacted, also beyond the rate: later checks wait for it.
  public func charge(_ count: Int, for account: TargetAccount) {
    schedule.guarded.withLock { $0.state.ledger.charge(count, to: account, at: schedule.now().uptime) }
  }
}
