import ReachabilityModel
import Testing

@testable import ReachabilityChecks

/// Which registrations and checks the limits allow.
@Suite struct QuotaLedgerTests {
  static let token = TargetAccount.token("ci")

  static func definition(
    _ id: String = "db", interval: Duration = .seconds(1), _ change: (inout TargetDefinition) -> Void = { _ in }
  ) throws -> TargetDefinition {
    var definition = TargetDefinition(id: id, target: try CheckTarget("tcp://10.0.0.9:1"), interval: interval)
    change(&definition)
    return definition
  }

  /// A ledger in which an account has some targets of one check a second each.
  static func ledger(
    _ limits: ScheduleLimits, _ registered: [(TargetAccount, Int)] = []
  ) throws -> QuotaLedger {
    var ledger = QuotaLedger(limits)
    for (account, count) in registered {
      for _ in 0..<count { ledger.charge(try definition(), to: account) }
    }
    return ledger
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var limits: ScheduleLimits
    var registered: [(TargetAccount, Int)] = []
    var account = QuotaLedgerTests.token
    var interval = Duration.seconds(1)
    var excess: QuotaExcess?
  }

  static func own(_ limits: AccountLimits) -> ScheduleLimits { .init(tokens: ["ci": limits]) }

  static let cases = [
    Case(testDescription: "nothing is limited", limits: .init(targets: .max, checksPerSecond: nil)),
    Case(
      testDescription: "the last place of all", limits: .init(targets: 3), registered: [(.file, 1), (.anonymous, 1)]),
    Case(
      testDescription: "one more than all places", limits: .init(targets: 2),
      registered: [(.file, 1), (.anonymous, 1)], excess: .targets(limit: 2, .all)),
    Case(
      testDescription: "no place for callers", limits: .init(targets: 0), account: .anonymous,
      excess: .targets(limit: 0, .all)),
    Case(testDescription: "the last place of the token", limits: own(.init(targets: 2)), registered: [(token, 1)]),
    Case(
      testDescription: "one more than the token's places", limits: own(.init(targets: 2)), registered: [(token, 2)],
      excess: .targets(limit: 2, .token("ci"))),
    Case(
      testDescription: "another token's places", limits: own(.init(targets: 2)), registered: [(token, 2)],
      account: .token("other")),
    Case(testDescription: "the shortest interval", limits: own(.init(minimumInterval: .seconds(1)))),
    Case(
      testDescription: "below the shortest interval", limits: own(.init(minimumInterval: .seconds(1))),
      interval: .milliseconds(999), excess: .interval(minimum: .seconds(1), .token("ci"))),
    Case(
      testDescription: "exactly the token's rate", limits: own(.init(checksPerSecond: 2)), registered: [(token, 1)]),
    Case(
      testDescription: "above the token's rate", limits: own(.init(checksPerSecond: 2)), registered: [(token, 1)],
      interval: .milliseconds(999), excess: .checksPerSecond(limit: 2, .token("ci"))),
    Case(
      testDescription: "above the rate of all", limits: .init(checksPerSecond: 2), registered: [(.file, 2)],
      interval: .seconds(86_400), excess: .checksPerSecond(limit: 2, .all)),
    Case(
      testDescription: "without memory", limits: .init(memory: QuotaMemoryBudget(limit: 32 << 20)),
      excess: .memory(QuotaMemoryBudget(limit: 32 << 20))),
    Case(testDescription: "with memory", limits: .init(memory: QuotaMemoryBudget(limit: 128 << 20))),
  ]

  @Test(arguments: cases)
  func judgesARegistration(_ one: Case) throws {
    let ledger = try Self.ledger(one.limits, one.registered)
    #expect(ledger.excess(try Self.definition(interval: one.interval), by: one.account, replacing: nil) == one.excess)
  }

  @Test func thirtyTargetsOfThirtySecondsAreOneCheckASecond() throws {
    var ledger = QuotaLedger(Self.own(.init(checksPerSecond: 1)))
    let definition = try Self.definition(interval: .seconds(30))
    for _ in 0..<30 {
      #expect(ledger.excess(definition, by: Self.token, replacing: nil) == nil)
      ledger.charge(definition, to: Self.token)
    }
    #expect(ledger.excess(definition, by: Self.token, replacing: nil) != nil)
    for _ in 0..<30 { ledger.refund(definition, to: Self.token) }
    #expect(ledger.total == QuotaUsage() && ledger.accounts.isEmpty)
  }

  @Test func loweredLimitsRefuseGrowthOnly() throws {
    var ledger = try Self.ledger(.init(), [(Self.token, 3)])
    ledger.limits = .init(
      targets: 1, checksPerSecond: 1, memory: QuotaMemoryBudget(limit: 1),
      tokens: ["ci": .init(targets: 1, minimumInterval: .seconds(60), checksPerSecond: 1)])
    let old = try Self.definition()
    func excess(_ interval: Duration, labels: [String: String] = [:]) throws -> QuotaExcess? {
      let new = try Self.definition(interval: interval) { $0.labels = labels }
      return ledger.excess(new, by: Self.token, replacing: (old, Self.token))
    }
    #expect(try excess(.seconds(1)) == nil)
    #expect(try excess(.seconds(2)) == nil)
    #expect(try excess(.milliseconds(500)) == .interval(minimum: .seconds(60), .token("ci")))
    #expect(try excess(.seconds(1), labels: ["a": "b"]) == .memory(QuotaMemoryBudget(limit: 1)))
  }

  @Test func aTargetThatAnotherAccountTakesIsChargedThere() throws {
    let ledger = try Self.ledger(Self.own(.init(targets: 0)), [(.anonymous, 1)])
    let old = (definition: try Self.definition(), account: TargetAccount.anonymous)
    #expect(ledger.excess(try Self.definition(), by: Self.token, replacing: old) != nil)
    #expect(ledger.excess(try Self.definition(), by: .token("other"), replacing: old) == nil)
  }

  // MARK: - Changes

  @Test func eachAccountHasItsRateOfChanges() {
    var limiter = QuotaChangeRateLimiter()
    let limits = ScheduleLimits(changesPerSecond: 2, tokens: ["ci": AccountLimits(changesPerSecond: 1)])
    for _ in 0..<ScheduleLimits.changeBurst {
      #expect(limiter.admit(Self.token, limits, at: .zero) == nil)
      #expect(limiter.admit(.anonymous, limits, at: .zero) == nil)
    }
    let own = ScheduleChangeError.rateLimited(seconds: 1, .changesPerSecond(limit: 1, .token("ci")))
    #expect(limiter.admit(Self.token, limits, at: .zero) == own)
    #expect(
      limiter.admit(.anonymous, limits, at: .zero) == .rateLimited(seconds: 1, .changesPerSecond(limit: 2, .all)))
    #expect(limiter.admit(.token("other"), limits, at: .zero) == nil, "others have their own rate")
    #expect(limiter.admit(Self.token, limits, at: .seconds(1)) == nil)
    #expect(limiter.admit(Self.token, limits, at: .seconds(1)) == own)
    #expect((0..<5_000).allSatisfy { _ in limiter.admit(.file, limits, at: .zero) == nil })
    #expect((0..<5_000).allSatisfy { _ in limiter.admit(.anonymous, .init(changesPerSecond: nil), at: .zero) == nil })
  }

  // MARK: - The file

  @Test func theFilesShareIsReservedOrRefusedWhole() throws {
    var ledger = try Self.ledger(.init(targets: 4), [(.file, 1), (Self.token, 2)])
    let two = [try Self.definition("a"), try Self.definition("b")]
    try ledger.reserve(two, ledger.limits, takenOver: QuotaUsage())
    #expect(ledger.excess(try Self.definition(), by: .anonymous, replacing: nil) == .targets(limit: 4, .all))
    let before = ledger.total
    #expect(throws: QuotaExcess.targets(limit: 4, .all)) {
      try ledger.reserve(two + [try Self.definition("c")], ledger.limits, takenOver: QuotaUsage())
    }
    #expect(ledger.total == before)
    // A target that the file takes over has its place already.
    try ledger.reserve(
      two + [try Self.definition("c")], ledger.limits, takenOver: QuotaUsage(try Self.definition("c")))
    // A limit that the same configuration raises counts.
    try ledger.reserve(two + [try Self.definition("c")], .init(targets: 5), takenOver: QuotaUsage())
    #expect(ledger.limits.targets == 5)
  }

  @Test func theFileAloneMustFit() throws {
    var ledger = try Self.ledger(.init(), [(.file, 3)])
    #expect(throws: QuotaExcess.targets(limit: 1, .all)) {
      try ledger.reserve([try Self.definition("a"), try Self.definition("b")], .init(targets: 1), takenOver: .init())
    }
    // Callers' targets that exceed a lowered limit stay, and the file's do not grow.
    ledger = try Self.ledger(.init(), [(.file, 1), (Self.token, 5)])
    try ledger.reserve([try Self.definition("a")], .init(targets: 2), takenOver: .init())
  }

  // MARK: - Checks on demand

  @Test func checksOnDemandHaveWhatTheScheduleLeaves() throws {
    var ledger = try Self.ledger(Self.own(.init(checksPerSecond: 5)), [(Self.token, 2)])
    #expect(ledger.admit(3, for: Self.token, at: .zero) == .admitted)
    let excess = QuotaExcess.checksPerSecond(limit: 5, .token("ci"))
    #expect(ledger.admit(1, for: Self.token, at: .zero) == .later(seconds: 1, excess))
    #expect(ledger.admit(4, for: Self.token, at: .seconds(60)) == .never(excess))
    #expect(ledger.admit(3, for: Self.token, at: .seconds(60)) == .admitted)
    #expect(ledger.admit(1, for: .anonymous, at: .seconds(60)) == .admitted)
    for _ in 0..<3 { ledger.charge(try Self.definition(), to: Self.token) }
    #expect(ledger.admit(1, for: Self.token, at: .seconds(120)) == .never(excess))
  }

  @Test("Further addresses delay later checks")
  func furtherAddresses() throws {
    var ledger = try Self.ledger(Self.own(.init(checksPerSecond: 2)))
    #expect(ledger.admit(1, for: Self.token, at: .zero) == .admitted)
    ledger.charge(11, to: Self.token, at: .zero)
    ledger.charge(1_000, to: .file, at: .zero)
    guard case .later(let seconds, _) = ledger.admit(1, for: Self.token, at: .zero) else {
      Issue.record("the check was admitted")
      return
    }
    #expect(seconds == 6)
    #expect(ledger.admit(1, for: Self.token, at: .seconds(6)) == .admitted)
    #expect(ledger.admit(1, for: .token("other"), at: .zero) == .admitted)
  }

  @Test func callersShareTheRateOfAll() throws {
    var ledger = try Self.ledger(.init(checksPerSecond: 3), [(.file, 1)])
    #expect(ledger.admit(2, for: .anonymous, at: .zero) == .admitted)
    let excess = QuotaExcess.checksPerSecond(limit: 3, .all)
    #expect(ledger.admit(1, for: Self.token, at: .zero) == .later(seconds: 1, excess))
    #expect(ledger.admit(100, for: .file, at: .zero) == .admitted)
  }

  @Test func fastChecksNeedCreditAndRespectTheMinimum() throws {
    var ledger = QuotaLedger(Self.own(.init(minimumInterval: .seconds(5), checksPerSecond: 1)))
    let definition = try Self.definition(interval: .seconds(10)) { $0.fastInterval = .milliseconds(100) }
    #expect(ledger.fastInterval(definition, Self.token) == .seconds(5))
    #expect(ledger.fastInterval(definition, .file) == .milliseconds(100))
    var state = ScheduleState(seed: 7, concurrency: 4, perHost: 4, limits: Self.own(.init(checksPerSecond: 1)))
    var uptime = Duration.zero
    var now: ScheduleMoment { .init(uptime: uptime, time: Timestamp(microseconds: uptime.nanoseconds / 1_000)) }
    _ = state.put(definition, .runtime, by: Self.token, at: now)
    var checks = 0
    while uptime < .seconds(60) {
      for launch in state.takeStarts(at: now) {
        checks += 1
        let result = CheckResult(.unreachable, .noRoute, startedAt: now.time, duration: .zero)
        _ = state.finish(launch.run, result, at: now)
      }
      uptime += .milliseconds(5)
    }
    // 1 a second, 6 of them reserved, where the fast interval alone would make 600.
    #expect((6...63).contains(checks), "\(checks)")
    ledger.limits = .init()
    #expect(ledger.fastInterval(definition, Self.token) == .milliseconds(100))
  }

  // MARK: - Memory

  @Test(arguments: [(Duration.seconds(30), 10_000), (.milliseconds(100), 2_500)])
  func aContainerOf128MiBHolds(interval: Duration, least: Int) throws {
    let budget = QuotaMemoryBudget(limit: 128 << 20)
    var usage = QuotaUsage()
    let one = QuotaUsage(try Self.definition(interval: interval))
    for _ in 0..<least { usage += one }
    #expect(usage.memory <= budget.targets)
    for _ in 0..<least { usage += one }
    #expect(usage.memory > budget.targets)
  }

  @Test func labelsTargetsRatesAndProtocolsCost() throws {
    let plain = QuotaUsage(try Self.definition(interval: .seconds(30))).memory
    let labels = (0..<32).map { (String(repeating: "n", count: 60) + "\($0)", String(repeating: "v", count: 128)) }
    let labelled = try Self.definition(interval: .seconds(30)) { $0.labels = .init(uniqueKeysWithValues: labels) }
    #expect(QuotaUsage(labelled).memory > plain + 32 * 188)
    let long = try CheckTarget("http://10.0.0.9/" + String(repeating: "p", count: 2_000))
    #expect(QuotaUsage(try Self.definition(interval: .seconds(30)) { $0.target = long }).memory > plain + 4_000)
    #expect(QuotaUsage(try Self.definition(interval: .milliseconds(100))).memory > 2 * plain)
    let secure = try CheckTarget("https://10.0.0.9/")
    #expect(QuotaUsage(try Self.definition(interval: .seconds(30)) { $0.target = secure }).memory > 2 * plain)
  }

  @Test func aLimitBelowTheServiceItselfLeavesNothing() {
    #expect(QuotaMemoryBudget(limit: 16 << 20).targets == 0)
    #expect(QuotaMemoryBudget(limit: 1 << 59).targets > 0)
  }
}
