internal import ReachabilityModel

/// What a registration or a set of them is charged with.
struct QuotaUsage: Hashable, Sendable {
  var targets = 0
  /// Scheduled checks in billionths a second: integers, so that sums do not drift.
  var rate: Int64 = 0
  /// Bytes of memory at all times.
  var resident = 0
  /// Bytes of the checks under way, if more of them could run at once than may.
  var running = 0

  static let unitsPerCheck: Int64 = 1_000_000_000

  init() {}

  /// The usage of one target; a paused one keeps its share, so that it can be resumed.
  init(_ definition: TargetDefinition) {
    targets = 1
    rate = Self.unitsPerCheck * Self.unitsPerCheck / max(1, definition.interval.nanoseconds)
    resident = QuotaMemoryBudget.resident(definition)
    running = QuotaMemoryBudget.running(definition)
  }

  init(_ definitions: [TargetDefinition]) {
    self = definitions.reduce(into: QuotaUsage()) { $0 += QuotaUsage($1) }
  }

  /// Bytes of memory.
  var memory: Int { resident + min(running, QuotaMemoryBudget.mostRunning) }

  /// Scheduled checks a second.
  var checksPerSecond: Double { Double(rate) / Double(Self.unitsPerCheck) }

  static func += (left: inout QuotaUsage, right: QuotaUsage) {
    left.targets += right.targets
    left.rate += right.rate
    left.resident += right.resident
    left.running += right.running
  }

  static func -= (left: inout QuotaUsage, right: QuotaUsage) {
    left.targets -= right.targets
    left.rate -= right.rate
    left.resident -= right.resident
    left.running -= right.running
  }
}
