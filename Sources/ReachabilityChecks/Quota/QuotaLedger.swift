internal import ReachabilityModel

/// Which account uses how much of which limit: a value without clock and lock.
///
/// A change is refused when it increases what is above a limit. A change that increases nothing is never refused, so
/// limits can be lowered below what is registered.
struct QuotaLedger: Sendable {
  var limits: ScheduleLimits {
    didSet {
      buckets = buckets.filter { limits.own($0.key).checksPerSecond != nil }
      changes.forget { limits.changesPerSecond(of: $0) == nil }
    }
  }
  private(set) var accounts: [TargetAccount: QuotaUsage] = [:]
  /// What a configuration that was accepted, and is about to be applied, needs for the file.
  private var reserved = QuotaUsage()
  private var buckets: [TargetAccount: QuotaRateBucket] = [:]
  private var bucketOfAll: QuotaRateBucket?
  var changes = QuotaChangeRateLimiter()

  init(_ limits: ScheduleLimits) { self.limits = limits }

  // MARK: - Registrations

  /// What all accounts use; for the file, what is reserved if that is more.
  var total: QuotaUsage {
    var total = accounts.reduce(into: QuotaUsage()) { if $1.key != .file { $0 += $1.value } }
    let file = accounts[.file] ?? QuotaUsage()
    total.targets += max(file.targets, reserved.targets)
    total.rate += max(file.rate, reserved.rate)
    total.resident += max(file.resident, reserved.resident)
    total.running += max(file.running, reserved.running)
    return total
  }

  /// Judges a registration by a caller.
  ///
  /// - Parameters:
  ///   - definition: the target.
  ///   - account: the caller's account, which is charged.
  ///   - old: the definition that is replaced, and the account that has it; nil for a new target.
  /// - Returns: the limit that it exceeds; nil when it may be registered.
  func excess(
    _ definition: TargetDefinition, by account: TargetAccount,
    replacing old: (definition: TargetDefinition, account: TargetAccount)?
  ) -> QuotaExcess? {
    let own = limits.own(account)
    let scope = Self.scope(account)
    let isFaster = old.map { $0.account != account || definition.interval < $0.definition.interval } ?? true
    if let minimum = own.minimumInterval, definition.interval < minimum, isFaster {
      return .interval(minimum: minimum, scope)
    }
    let used = old.map { QuotaUsage($0.definition) } ?? QuotaUsage()
    let before = accounts[account] ?? QuotaUsage()
    var after = before
    if let old, old.account == account { after -= used }
    after += QuotaUsage(definition)
    if let limit = own.targets, after.targets > limit, after.targets > before.targets {
      return .targets(limit: limit, scope)
    }
    if let limit = own.checksPerSecond, after.rate > Self.units(limit), after.rate > before.rate {
      return .checksPerSecond(limit: limit, scope)
    }
    let all = total
    var allAfter = all
    allAfter -= used
    allAfter += QuotaUsage(definition)
    return excess(of: allAfter, over: all)
  }

  /// Judges the targets of a new configuration against its own limits and what callers have registered, and reserves
  /// their share until ``release()``.
  ///
  /// - Parameters:
  ///   - definitions: all targets of the file.
  ///   - limits: the limits of the same configuration.
  ///   - takenOver: what callers use now for targets that become the file's.
  /// - Throws: the limit that they exceed; nothing has changed then.
  mutating func reserve(
    _ definitions: [TargetDefinition], _ limits: ScheduleLimits, takenOver: QuotaUsage
  ) throws(QuotaExcess) {
    let needed = QuotaUsage(definitions)
    var fresh = self
    fresh.limits = limits
    fresh.release()
    // The file alone never exceeds a limit, whatever was registered before.
    if let excess = fresh.excess(of: needed, over: QuotaUsage()) { throw excess }
    let before = fresh.total
    var after = before
    after -= accounts[.file] ?? QuotaUsage()
    after -= takenOver
    after += needed
    if let excess = fresh.excess(of: after, over: before) { throw excess }
    fresh.reserved = needed
    self = fresh
  }

  /// Ends a reservation: the file's targets are registered.
  mutating func release() { reserved = QuotaUsage() }

  private func excess(of after: QuotaUsage, over before: QuotaUsage) -> QuotaExcess? {
    if after.targets > limits.targets, after.targets > before.targets {
      return .targets(limit: limits.targets, .all)
    }
    if let limit = limits.checksPerSecond, after.rate > Self.units(limit), after.rate > before.rate {
      return .checksPerSecond(limit: limit, .all)
    }
    if let budget = limits.memory, after.memory > budget.targets, after.memory > before.memory {
      return .memory(budget)
    }
    return nil
  }

  mutating func charge(_ definition: TargetDefinition, to account: TargetAccount) {
    accounts[account, default: QuotaUsage()] += QuotaUsage(definition)
  }

  /// Refunds a target that is removed or replaced.
  mutating func refund(_ definition: TargetDefinition, to account: TargetAccount) {
    accounts[account, default: QuotaUsage()] -= QuotaUsage(definition)
    if accounts[account]?.targets == 0 { accounts[account] = nil }
  }

  // MARK: - Checks that are not reserved

  /// Counts checks besides the scheduled ones against what these leave of the account's rate and of the global one.
  mutating func admit(_ count: Int, for account: TargetAccount, at now: Duration) -> CheckAdmission {
    guard account != .file else { return .admitted }
    var own: QuotaRateBucket?
    if let limit = limits.own(account).checksPerSecond {
      let rate = Double(limit) - (accounts[account]?.checksPerSecond ?? 0)
      let excess = QuotaExcess.checksPerSecond(limit: limit, Self.scope(account))
      own = Self.filled(buckets[account], rate, at: now)
      let admission = Self.admission(count, own, rate, excess)
      guard admission == .admitted else { return admission }
    }
    var all: QuotaRateBucket?
    if let limit = limits.checksPerSecond {
      let rate = Double(limit) - total.checksPerSecond
      all = Self.filled(bucketOfAll, rate, at: now)
      let admission = Self.admission(count, all, rate, .checksPerSecond(limit: limit, .all))
      guard admission == .admitted else { return admission }
    }
    own?.take(count)
    all?.take(count)
    // Of tokens in the configuration only, so there are never more buckets than these.
    if let own { buckets[account] = own }
    bucketOfAll = all
    return .admitted
  }

  /// Counts what admitted checks have sent to further addresses, also beyond the rates.
  mutating func charge(_ count: Int, to account: TargetAccount, at now: Duration) {
    guard account != .file else { return }
    if let limit = limits.own(account).checksPerSecond {
      buckets[account] = Self.filled(
        buckets[account], Double(limit) - (accounts[account]?.checksPerSecond ?? 0), at: now)
      buckets[account]?.take(count)
    }
    if let limit = limits.checksPerSecond {
      bucketOfAll = Self.filled(bucketOfAll, Double(limit) - total.checksPerSecond, at: now)
      bucketOfAll?.take(count)
    }
  }

  /// One second's worth of what the scheduled checks leave.
  private static func capacity(_ rate: Double) -> Int { Int(max(0, rate).rounded(.up)) }

  private static func filled(_ bucket: QuotaRateBucket?, _ rate: Double, at now: Duration) -> QuotaRateBucket {
    var bucket = bucket ?? QuotaRateBucket(capacity: capacity(rate), at: now)
    bucket.refill(perSecond: max(0, rate), capacity: capacity(rate), at: now)
    return bucket
  }

  private static func admission(
    _ count: Int, _ bucket: QuotaRateBucket?, _ rate: Double, _ excess: QuotaExcess
  ) -> CheckAdmission {
    let shortage = bucket?.shortage(of: count) ?? 0
    if shortage <= 0 { return .admitted }
    guard count <= capacity(rate) else { return .never(excess) }
    return .later(seconds: max(1, Int(min(shortage / rate, longestWait).rounded(.up))), excess)
  }

  /// The longest `Retry-After` in seconds: more says nothing to a client.
  private static let longestWait = 3_600.0

  /// The time between two checks of a target while a change of state is pending.
  func fastInterval(_ definition: TargetDefinition, _ account: TargetAccount) -> Duration {
    max(definition.fastInterval, limits.own(account).minimumInterval ?? .zero)
  }

  private static func units(_ checksPerSecond: Int) -> Int64 { Int64(checksPerSecond) * QuotaUsage.unitsPerCheck }

  private static func scope(_ account: TargetAccount) -> QuotaExcess.Scope {
    if case .token(let id) = account { .token(id) } else { .all }
  }
}
