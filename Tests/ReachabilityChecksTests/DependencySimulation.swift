import NetworkReachability
import ReachabilityModel
import TestSupport

@testable import ReachabilityChecks

/// Targets that depend on each other while everything changes at random, and what must hold after each step.
struct DependencySimulation {
  /// What the simulation knows of a target, independently of the schedule.
  private struct Known {
    /// What its checks find.
    var answer = CheckResult.State.up
    /// Whether the last result that was not `unknown` was bad.
    var isBad = false
    var isRouteMissing = false
    /// The bad results since the last good one that arrived while no entry was broken.
    var ownFailures = 0
    var state = TargetState.unknown
    var waitingSince: Duration?
    var askedAt: Duration?
    /// Since when it has a reason for which the schedule gives no present cause.
    var unexplainedSince: Duration?
  }

  private static let ids = (0..<14).map { "t\($0)" }
  /// Targets that always answer.
  private static let steady: Set<String> = ["t3", "t9"]
  /// The longest wait: a minute, a check that began too early, and a tick.
  private static let longestWait = Limits.dependencyWait + .seconds(4)
  /// What an outage that has ended may explain: until the next results of all targets on the path.
  private static let aftermath = Duration.seconds(120)

  private(set) var state: ScheduleState
  private var random: SeededGenerator
  private var uptime = Duration.zero
  private var known: [String: Known] = [:]
  private var running: [(due: Duration, start: CheckStart, state: CheckResult.State)] = []
  private var addresses = 0
  /// What did not hold.
  private(set) var violations: [String] = []
  /// The number of times that a target waited for its parents.
  private(set) var waits = 0

  private var now: ScheduleMoment {
    ScheduleMoment(
      uptime: uptime, time: Timestamp(microseconds: 1_767_225_601_234_567 + uptime.nanoseconds / 1000))
  }

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    let limits = ScheduleLimits(
      targets: 100, checksPerSecond: nil,
      tokens: ["client": AccountLimits(checksPerSecond: seed.isMultiple(of: 2) ? 6 : 60)])
    state = ScheduleState(seed: seed, concurrency: seed.isMultiple(of: 3) ? 3 : 64, perHost: 2, limits: limits)
    for id in Self.ids { try put(id) { _ in } }
  }

  // MARK: - Steps

  /// Changes something at random times, and checks what must hold.
  mutating func run(for time: Duration) throws {
    let end = uptime + time
    while uptime < end, violations.isEmpty {
      advance(to: uptime + .milliseconds(Int.random(in: 1...700, using: &random)))
      try change()
      settle()
    }
  }

  /// Lets all targets continue as they are, until each has its final state.
  mutating func finish() {
    advance(to: uptime + .seconds(400))
    guard violations.isEmpty else { return }
    for (id, entry) in state.entries {
      let (status, answer) = (entry.report.status, known[id]?.answer)
      if status.isWaitingForDependency { violations.append("\(id) waits at the end") }
      if entry.definition.isPaused || entry.route == .missing || answer == .unknown { continue }
      let isExpected =
        answer == .up
        ? status.state == .up
        : isBroken(entry.definition) ? status.state == .down || status.reason == .dependencyDown : status.state == .down
      if !isExpected { violations.append("\(id) is \(status.state) at the end, and its checks are \(answer as Any)") }
    }
    for parent in state.dependencies.questions.parents { violations.append("\(parent) is asked at the end") }
  }

  private mutating func advance(to end: Duration) {
    while violations.isEmpty {
      settle()
      for start in state.takeStarts(at: now, limit: Int.random(in: 1...64, using: &random)) { begin(start) }
      settle()
      let next = [state.nextDeadline(after: uptime), running.map(\.due).min()].compactMap(\.self).min() ?? end
      guard next <= end else { break }
      uptime = max(uptime + .microseconds(1), next)
      let ended = running.filter { $0.due <= uptime }
      running.removeAll { $0.due <= uptime }
      for check in ended {
        complete(check.start, check.state)
        settle()
      }
    }
    uptime = max(uptime, end)
  }

  private mutating func begin(_ start: CheckStart) {
    let answer = known[start.id]?.answer ?? .up
    let timeout = start.definition.timeout
    let duration =
      answer == .up || Bool.random(using: &random) ? .milliseconds(Int.random(in: 1...80, using: &random)) : timeout
    running.append((uptime + min(duration, timeout), start, answer))
    guard case .running(_, _, .dependency) = start.run.entry.activity else { return }
    let pause = max(Limits.dependencyPause, start.definition.fastInterval)
    if let last = known[start.id]?.askedAt, uptime - last < pause {
      violations.append("\(start.id) is asked too often")
    }
    known[start.id]?.askedAt = uptime
  }

  private mutating func complete(_ start: CheckStart, _ found: CheckResult.State) {
    let isBroken = isBroken(start.run.entry.definition)
    let result = CheckResult(
      found, found == .up ? nil : found == .unknown ? .dnsTimeout : .connectTimeout, startedAt: now.time,
      duration: .milliseconds(1))
    guard case .accepted = state.finish(start.run, result, at: now) else { return }
    if found != .unknown { known[start.id]?.isBad = found != .up }
    if found == .up { known[start.id]?.ownFailures = 0 }
    if found == .down, !isBroken { known[start.id]?.ownFailures += 1 }
  }

  // MARK: - Changes

  private mutating func change() throws {
    let id = Self.ids.randomElement(using: &random) ?? ""
    guard let entry = state.entries[id] else { return try put(id) { _ in } }
    switch Int.random(in: 0..<24, using: &random) {
    case 0...8: flip(id)
    case 9, 10: try put(id) { $0.isPaused.toggle() }
    case 11...13:
      let dependsOn = randomDependencies(of: id)
      try put(id) { $0.dependsOn = dependsOn }
    case 14:
      addresses += 1
      let target = try CheckTarget("tcp://10.1.\(addresses / 200).\(addresses % 200 + 1):1")
      try put(id) { $0.target = target }
    case 15:
      let seconds = Int.random(in: 1...20, using: &random)
      try put(id) { $0.interval = max(.seconds(seconds), $0.timeout + .milliseconds(1)) }
    case 16:
      try put(id) { $0.labels = ["changed": "\($0.labels.count)", "at": $0.labels["at"].map { $0 + "1" } ?? ""] }
    case 17...20: try changeRoute(of: entry)
    case 21:
      _ = state.remove(id, at: now)
      known[id] = nil
    case 22: state.enqueue(entry, due: uptime)
    default:
      // A router with all that depends on it.
      guard !Self.steady.contains(id) else { return }
      known[id]?.answer = .down
      for child in state.dependencies.graph.descendants(of: id) where !Self.steady.contains(child) {
        known[child]?.answer = .down
      }
    }
    // Their results are ignored.
    _ = state.takeOutdatedRuns()
  }

  private mutating func flip(_ id: String) {
    guard !Self.steady.contains(id) else { return }
    let isUnknown = Int.random(in: 0..<6, using: &random) == 0
    let isUp = known[id]?.answer == .up
    known[id]?.answer = isUnknown ? .unknown : isUp ? .down : .up
  }

  private mutating func changeRoute(of entry: ScheduleEntry) throws {
    let id = entry.definition.id
    guard !Self.steady.contains(id) else { return }
    let isMissing = entry.route != .missing
    let host = entry.definition.target.routeTarget
    let verdict = HostVerdict(
      target: host, path: isMissing ? .none(.noRoute) : NetworkPath(flags: [.reachable], reason: nil))
    known[id]?.isRouteMissing = isMissing
    _ = state.routeChanged(id, verdict, isFirst: false, [isMissing ? .routeRemoved : .routeAdded], at: now)
  }

  private mutating func put(_ id: String, _ change: (inout TargetDefinition) -> Void) throws {
    let old = state.entries[id]?.definition
    addresses += 1
    var definition =
      try old
      ?? TargetDefinition(
        id: id, target: CheckTarget("tcp://10.0.\(addresses / 200).\(addresses % 200 + 1):1"),
        interval: .seconds(Int.random(in: 3...20, using: &random)),
        timeout: .seconds(Int.random(in: 1...2, using: &random)),
        fastInterval: .milliseconds(Int.random(in: 500...3_000, using: &random)),
        fall: Int.random(in: 1...3, using: &random), rise: Int.random(in: 1...2, using: &random),
        dependsOn: randomDependencies(of: id))
    change(&definition)
    let isClients =
      (addresses + id.utf8.count).isMultiple(of: 2) && old == nil || state.entries[id]?.account == .token("client")
    _ = state.put(definition, isClients ? .runtime : .configuration, by: isClients ? .token("client") : nil, at: now)
    guard let old, old.isSameCheck(as: definition), old.isPaused == definition.isPaused else {
      let (answer, isRouteMissing) = (known[id]?.answer ?? .up, state.entries[id]?.route == .missing)
      known[id] = Known(answer: answer, isRouteMissing: isRouteMissing, state: definition.isPaused ? .paused : .unknown)
      return
    }
    if old.interval != definition.interval { known[id]?.askedAt = nil }
  }

  private mutating func randomDependencies(of id: String) -> [TargetDependency] {
    let entries = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      let parents = Set(
        (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in Self.ids.randomElement(using: &random) })
      return TargetDependency(anyOf: parents.filter { $0 != id && state.entries[$0] != nil }.sorted())
    }.filter { !$0.parents.isEmpty }
    let fault = DependencyRules.fault(
      of: id, entries, entries: { state.entries[$0]?.definition.dependsOn },
      children: { state.dependencies.graph.children(of: $0) })
    return fault == nil ? entries : state.entries[id]?.definition.dependsOn ?? []
  }

  // MARK: - What must hold

  private func isFailing(_ id: String) -> Bool {
    guard let entry = state.entries[id], !entry.definition.isPaused, let known = known[id] else { return false }
    return known.isBad || known.isRouteMissing
  }

  private func isBroken(_ definition: TargetDefinition) -> Bool {
    definition.dependsOn.contains { entry in
      let counted = entry.parents.filter { state.entries[$0].map { !$0.definition.isPaused } ?? false }
      return !counted.isEmpty && counted.allSatisfy { isFailing($0) }
    }
  }

  /// Decides about the targets whose parents have changed, and checks everything.
  private mutating func settle() {
    while state.dependencies.hasTouched { _ = state.takeDecisions(at: now) }
    _ = state.takeOutdatedRuns()
    let slots = state.entries.values.count {
      if case .running(_, _, .dependency) = $0.activity { true } else { false }
    }
    if slots != state.dependencies.running {
      violations.append("\(slots) slots are used, \(state.dependencies.running) counted")
    }
    for (id, entry) in state.entries {
      checkWait(id, entry)
      checkState(id, entry)
    }
    if let first = violations.first { violations[0] = "\(uptime): \(first)" }
  }

  private mutating func checkWait(_ id: String, _ entry: ScheduleEntry) {
    guard entry.report.status.isWaitingForDependency else {
      known[id]?.waitingSince = nil
      return
    }
    if known[id]?.waitingSince == nil {
      waits += 1
      known[id]?.waitingSince = uptime
    }
    if let since = known[id]?.waitingSince, uptime - since > Self.longestWait {
      violations.append("\(id) waits too long")
    }
    if entry.dependency.awaited.isEmpty { violations.append("\(id) waits for nothing") }
    for parent in entry.dependency.awaited where !state.dependencies.questions.isWaiting(id, for: parent) {
      violations.append("\(id) waits for \(parent), which is not asked")
    }
  }

  private mutating func checkState(_ id: String, _ entry: ScheduleEntry) {
    let (status, definition) = (entry.report.status, entry.definition)
    let before = known[id]?.state ?? .unknown
    known[id]?.state = status.state
    if status.state == .down, before != .down, !definition.dependsOn.isEmpty {
      let own = known[id]?.ownFailures ?? 0
      if own < (before == .unknown ? 1 : definition.fall) {
        violations.append("\(id) is down after \(own) failures of its own, and was \(before)")
      }
    }
    guard status.reason == .dependencyDown else {
      known[id]?.unexplainedSince = nil
      if Self.steady.contains(id), status.state == .down { violations.append("\(id) answers, and is down") }
      return
    }
    if Self.steady.contains(id) { violations.append("\(id) answers, and is \(status)") }
    guard let root = status.dependency else { return violations.append("\(id) has no root") }
    let isExplained =
      isBroken(definition) && isFailing(root) && !(state.entries[root].map { isBroken($0.definition) } ?? true)
    if isExplained {
      known[id]?.unexplainedSince = nil
    } else if let since = known[id]?.unexplainedSince {
      if uptime - since > Self.aftermath { violations.append("\(id) is unreachable by \(root) for too long") }
    } else {
      known[id]?.unexplainedSince = uptime
    }
  }
}
