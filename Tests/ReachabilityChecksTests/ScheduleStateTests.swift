import NetworkReachability
import ReachabilityModel
import TestSupport
import Testing

@testable import ReachabilityChecks

@Suite("ScheduleState")
struct ScheduleStateTests {
  var state = ScheduleState(seed: 7, concurrency: 4, perHost: 2)
  var uptime = Duration.zero
  /// Shortly after 2026-01-01, so that offsets in the interval are no round numbers.
  static let epoch: Int64 = 1_767_225_601_234_567

  var now: ScheduleMoment {
    let time = Timestamp(microseconds: Self.epoch + uptime.nanoseconds / 1000)
    return ScheduleMoment(uptime: uptime, time: time)
  }

  func definition(_ id: String, _ host: String = "10.0.0.9", _ change: (inout TargetDefinition) -> Void = { _ in })
    throws -> TargetDefinition
  {
    var definition = TargetDefinition(
      id: id, target: try CheckTarget("tcp://\(host):1"), interval: .seconds(10), timeout: .seconds(2))
    change(&definition)
    return definition
  }

  func result(_ state: CheckResult.State, _ reason: Reason? = nil) -> CheckResult {
    CheckResult(state, reason, startedAt: now.time, duration: .milliseconds(1))
  }

  /// Advances to the next wake-ups until one starts a check, at most by the limit.
  mutating func nextLaunches(within limit: Duration = .seconds(60)) -> [CheckStart] {
    let end = uptime + limit
    for _ in 0..<100_000 {
      let launches = state.takeStarts(at: now)
      if !launches.isEmpty { return launches }
      guard let wake = state.nextDeadline(after: uptime), wake <= end else { return [] }
      uptime = max(wake, uptime)
    }
    return []
  }

  /// Completes the next check of the only target with this result.
  @discardableResult
  mutating func check(_ found: CheckResult.State, _ reason: Reason? = nil) throws -> EngineTargetChange? {
    let launch = try #require(nextLaunches().first)
    guard case .accepted(let news) = state.finish(launch.run, result(found, reason), at: now) else { return nil }
    return news
  }

  @Test("A new reason is reported, alternating ones are not")
  mutating func reasons() throws {
    _ = state.put(try definition("db") { $0.fall = 1 }, .runtime, at: now)
    #expect(try check(.unknown, .dnsTimeout)?.report.changes == 1, "it was unknown, because it was starting")
    #expect(try check(.unknown, .dnsTimeout) == nil)
    #expect(try check(.down, .timeout)?.from == .unknown)
    #expect(try check(.down, .timeout) == nil)
    let news = try #require(try check(.down, .refused))
    #expect(news.from == .down && news.report.status.reason == .refused && news.causes == [.check])
    #expect(news.report.changes == 3)
    for _ in 0..<3 {
      #expect(try check(.down, .timeout) == nil, "it took its turn")
      #expect(state.entries["db"]?.report.status.reason == .timeout, "who asks is told all the same")
      #expect(try check(.down, .refused) == nil)
    }
    #expect(try check(.down, .timeout) == nil)
    #expect(try check(.down, .timeout)?.report.status.reason == .timeout, "now it stays")
    #expect(try check(.down, .refused)?.report.status.reason == .refused)
  }

  @Test("Checks keep their offset in the interval after a restart")
  mutating func places() throws {
    func placesOfThree(start: Duration) throws -> [Int64] {
      var other = ScheduleStateTests()
      other.uptime = start
      _ = other.state.put(try definition("db"), .configuration, at: other.now)
      let first = other.nextLaunches()
      #expect(first.map(\.id) == ["db"] && other.uptime == start)
      _ = other.state.finish(first[0].run, other.result(.up), at: other.now)
      return try (0..<3).map { _ in
        let launch = try #require(other.nextLaunches().first)
        _ = other.state.finish(launch.run, other.result(.up), at: other.now)
        return other.now.time.microseconds % 10_000_000
      }
    }
    let places = try placesOfThree(start: .zero) + placesOfThree(start: .milliseconds(4321))
    // Within a tick of each other.
    #expect((places.max() ?? 0) - (places.min() ?? 0) <= 5000, "\(places)")
  }

  @Test("The offsets of many targets are spread evenly")
  mutating func spread() throws {
    state = ScheduleState(seed: 0, concurrency: 10_000, perHost: 10_000)
    for number in 0..<1000 { _ = state.put(try definition("target-\(number)"), .runtime, at: now) }
    var perSecond: [Int: Int] = [:]
    for _ in 0..<4 { for launch in nextLaunches() { _ = state.finish(launch.run, result(.up), at: now) } }
    uptime += .milliseconds(1)
    let start = uptime
    while uptime < start + .seconds(10) {
      let launches = nextLaunches()
      for launch in launches { _ = state.finish(launch.run, result(.up), at: now) }
      perSecond[Int((uptime - start) / .seconds(1)), default: 0] += launches.count
      uptime += .microseconds(1)
    }
    #expect((0..<10).allSatisfy { (60...140).contains(perSecond[$0] ?? 0) }, "\(perSecond)")
  }

  @Test("A pending change is checked at the fast interval")
  mutating func fast() throws {
    _ = state.put(try definition("db"), .runtime, at: now)
    #expect(try check(.up)?.from == .unknown)
    #expect(try check(.down, .refused) == nil)
    let began = uptime
    #expect(try check(.down, .refused) == nil)
    #expect((.seconds(1) ... .milliseconds(1010)).contains(uptime - began), "\(uptime - began)")
    let news = try check(.down, .refused)
    #expect(news?.report.status.state == .down && news?.causes == [.check])
    let fell = uptime
    try check(.down, .refused)
    #expect(uptime - fell > .seconds(4), "back to the interval: \(uptime - fell)")
  }

  @Test("Checks of one target do not overlap")
  mutating func noOverlap() throws {
    _ = state.put(try definition("db"), .runtime, at: now)
    let launch = try #require(nextLaunches().first)
    #expect(nextLaunches(within: .seconds(35)).isEmpty)
    #expect((3...4).contains(state.statistics.overlaps))
    _ = state.finish(launch.run, result(.up), at: now)
    #expect(nextLaunches().count == 1)
  }

  @Test("Concurrent checks are limited in total and per host")
  mutating func bounded() throws {
    for number in 0..<3 { _ = state.put(try definition("a\(number)", "10.0.0.9"), .runtime, at: now) }
    for number in 0..<4 { _ = state.put(try definition("b\(number)", "10.0.1.\(number)"), .runtime, at: now) }
    let launches = state.takeStarts(at: now)
    #expect(launches.map(\.id) == ["a0", "a1", "b0", "b1"])
    #expect(state.currentStatistics.waiting == 3 && state.currentStatistics.running == 4)
    _ = state.finish(launches[2].run, result(.up), at: now)
    #expect(state.takeStarts(at: now).map(\.id) == ["b2"])
    _ = state.finish(launches[0].run, result(.up), at: now)
    // The third check of the host follows those that waited for the total limit.
    #expect(state.takeStarts(at: now).map(\.id) == ["b3"])
    _ = state.finish(launches[3].run, result(.up), at: now)
    #expect(state.takeStarts(at: now).map(\.id) == ["a2"])
  }

  @Test("A removed target frees its slot and reports nothing")
  mutating func removed() throws {
    for number in 0..<6 { _ = state.put(try definition("a\(number)", "10.0.1.\(number)"), .runtime, at: now) }
    let launches = state.takeStarts(at: now)
    #expect(state.remove("a5", at: now) == nil)
    #expect(state.remove("a0", at: now) == launches[0].run)
    #expect(state.finish(launches[0].run, result(.up), at: now) == .ignored)
    #expect(state.takeStarts(at: now).map(\.id) == ["a4"])
    #expect(state.currentStatistics.waiting == 0 && state.currentStatistics.running == 4)
  }

  @Test("A lost route stops checks, its return starts one")
  mutating func lostRoute() throws {
    _ = state.put(try definition("db"), .runtime, at: now)
    try check(.up)
    uptime += .milliseconds(100)
    let target = try ReachabilityTarget(host: "10.0.0.9")
    let missing = HostVerdict(target: target, path: .none(.linkDown))
    let news = state.routeChanged("db", missing, isFirst: false, [.carrierLost], at: now)
    #expect(news?.from == .up && news?.report.status.state == .unreachable && news?.causes == [.carrierLost])
    #expect(news?.report.status.reason == .linkDown)
    #expect(nextLaunches(within: .seconds(60)).isEmpty)
    let back = HostVerdict(target: target, path: NetworkPath(flags: [.reachable], reason: nil))
    #expect(state.routeChanged("db", back, isFirst: false, [.carrierGained], at: now) == nil)
    let before = uptime
    #expect(try check(.up)?.from == .unreachable)
    #expect(uptime == before)
  }

  @Test("A check during a route change is repeated")
  mutating func doubtful() throws {
    _ = state.put(try definition("db"), .runtime, at: now)
    try check(.up)
    let launch = try #require(nextLaunches().first)
    let other = HostVerdict(
      target: try ReachabilityTarget(host: "10.0.0.9"), path: NetworkPath(flags: [.reachable], reason: nil))
    _ = state.routeChanged("db", other, isFirst: false, [.routeReplaced], at: now)
    #expect(state.finish(launch.run, result(.down, .connectTimeout), at: now) == .retried)
    let again = try #require(state.takeStarts(at: now).first)
    #expect(state.finish(again.run, result(.up), at: now) == .accepted(nil))
    #expect(state.statistics.retries == 1)
  }

  @Test("A result after a suspension is checked again")
  mutating func stalled() throws {
    _ = state.put(try definition("db") { $0.fall = 1 }, .runtime, at: now)
    try check(.up)
    var launch = try #require(nextLaunches().first)
    for _ in 0..<Limits.retries {
      uptime += .seconds(5)
      #expect(state.finish(launch.run, result(.down, .timeout), at: now) == .retried)
      launch = try #require(state.takeStarts(at: now).first)
    }
    uptime += .seconds(5)
    guard case .accepted(let news) = state.finish(launch.run, result(.down, .timeout), at: now) else {
      Issue.record("it was thrown away once more")
      return
    }
    #expect(news?.report.status.state == .down)
    // The timer's heartbeats distinguish a slow check from a suspension.
    launch = try #require(nextLaunches().first)
    let began = uptime
    while uptime < began + .seconds(5), let wake = state.nextDeadline(after: uptime) {
      uptime = wake
      _ = state.takeStarts(at: now)
    }
    #expect(state.finish(launch.run, result(.down, .timeout), at: now) == .accepted(nil))
  }

  @Test("A changed definition with the same check keeps its state")
  mutating func redefined() throws {
    _ = state.put(try definition("db"), .runtime, at: now)
    try check(.up)
    let before = try #require(state.entries["db"]?.report)
    #expect(state.put(try definition("db"), .runtime, at: now).change == nil)
    #expect(state.entries["db"]?.report.revision == before.revision, "nothing has changed")
    let told = state.put(try definition("db") { $0.fall = 1 }, .runtime, at: now).change
    #expect(told?.from == .up && told?.report.status.state == .up && told?.report.definition.fall == 1)
    let after = try #require(state.entries["db"]?.report)
    #expect(after.revision > before.revision && after.status == before.status)
    let news = state.put(try definition("db", "10.0.0.8"), .runtime, at: now).change
    #expect(news?.from == .up && news?.report.status.state == .unknown && news?.causes == [.configuration])
  }

  @Test("A paused target is not checked, a resumed one immediately")
  mutating func paused() throws {
    _ = state.put(try definition("db"), .runtime, at: now)
    try check(.up)
    let news = state.put(try definition("db") { $0.isPaused = true }, .runtime, at: now).change
    #expect(news?.from == .up && news?.report.status.state == .paused)
    #expect(nextLaunches(within: .seconds(60)).isEmpty)
    let missing = HostVerdict(target: try ReachabilityTarget(host: "10.0.0.9"), path: .none(.linkDown))
    #expect(state.routeChanged("db", missing, isFirst: false, [], at: now) == nil)
    let back = HostVerdict(
      target: try ReachabilityTarget(host: "10.0.0.9"), path: NetworkPath(flags: [.reachable], reason: nil))
    #expect(state.routeChanged("db", back, isFirst: false, [], at: now) == nil)
    #expect(state.put(try definition("db"), .runtime, at: now).change?.report.status.state == .unknown)
    let before = uptime
    #expect(try check(.up)?.from == .unknown)
    #expect(uptime == before)
  }
}

extension ScheduleStateTests {
  @Test("Outdated planned checks do not accumulate")
  mutating func outdated() throws {
    for number in 0..<5_000 {
      _ = state.put(try definition("db") { $0.interval = .seconds(3_600 + number % 7 % 5) }, .runtime, at: now)
      if number % 3 == 0 { _ = state.remove("db", at: now) }
    }
    #expect(state.planner.wheel.count <= 2 + Limits.staleWheelEntries + 1)
    _ = state.put(try definition("db"), .runtime, at: now)
    try check(.up)
    #expect(nextLaunches(within: .seconds(11)).map(\.id) == ["db"], "and what is wanted comes")
  }
}

@Suite("ScheduleTimingWheel")
struct ScheduleTimingWheelTests {
  @Test("Keys expire in the order of a sorted list", arguments: [1, 2, 3])
  func model(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var wheel = ScheduleTimingWheel<Int>(slots: 16, at: 0)
    var expected: [(key: Int, tick: Int)] = []
    for key in 0..<500 {
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        let tick = wheel.now + Int.random(in: -2...50, using: &random)
        wheel.insert(key, at: tick)
        expected.append((key, max(tick, wheel.now + 1)))
      }
      if let next = wheel.next, let first = expected.map(\.tick).min() {
        #expect(next <= first && next > wheel.now)
        #expect(first > wheel.now + 16 || next == first)
      }
      let target = wheel.now + Int.random(in: 0...40, using: &random)
      let due = expected.filter { $0.tick <= target }.map { [$0.tick, $0.key] }
      expected.removeAll { $0.tick <= target }
      let got = wheel.advance(to: target).map { [$0.tick, $0.key] }
      #expect(got.map { $0[0] } == got.map { $0[0] }.sorted())
      #expect(Set(got) == Set(due) && got.count == due.count)
    }
    #expect((wheel.next == nil) == expected.isEmpty)
  }
}
