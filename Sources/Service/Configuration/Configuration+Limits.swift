internal import HostProcess
internal import ReachabilityChecks

extension Configuration {
  /// The limits of registered targets and checks, with the memory budget of this process.
  var scheduleLimits: ScheduleLimits {
    let rate = checksPerSecond ?? ScheduleLimits.defaultChecksPerSecond
    let changes = changesPerSecond ?? ScheduleLimits.defaultChangesPerSecond
    // Validation permits one set of limits for each id.
    return ScheduleLimits(
      targets: targetLimit ?? ScheduleLimits.defaultTargets, checksPerSecond: rate == 0 ? nil : rate,
      memory: CgroupMemory.limit().map(QuotaMemoryBudget.init), changesPerSecond: changes == 0 ? nil : changes,
      tokens: accountLimits.compactMapValues { $0.first })
  }
}
