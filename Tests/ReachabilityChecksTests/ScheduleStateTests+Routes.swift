import NetworkReachability
import Testing

@testable import ReachabilityChecks

/// Where a check and the kernel's verdict about the route differ.
extension ScheduleStateTests {
  @Test("Checks of an unresolved name continue without a verdict")
  mutating func unresolved() throws {
    _ = state.put(try definition("db", "db.lan"), .runtime, at: now)
    let target = try ReachabilityTarget(host: "db.lan")
    let missing = HostVerdict(target: target, path: .none(.noRoute), phase: .optimistic)
    #expect(state.routeChanged("db", missing, isFirst: true, [], reachesNameServer: false, at: now) == nil)
    #expect(try check(.up)?.from == .unknown)
    #expect(state.routeChanged("db", missing, isFirst: false, [], reachesNameServer: true, at: now) == nil)
    #expect(try check(.up) == nil)
    let news = state.routeChanged("db", missing, isFirst: false, [.routeRemoved], reachesNameServer: false, at: now)
    #expect(news?.report.status.state == .unreachable && news?.report.status.reason == .noRoute)
    #expect(try check(.unreachable, .noRoute) == nil)
    let looked = uptime
    #expect(try check(.up)?.from == .unreachable)
    #expect(uptime - looked > .seconds(4), "there is no haste: \(uptime - looked)")
  }

  @Test("A contradicting check is ignored and causes a new lookup")
  mutating func overruled() throws {
    _ = state.put(try definition("db"), .runtime, at: now)
    let launch = try #require(nextLaunches().first)
    let missing = HostVerdict(target: try ReachabilityTarget(host: "10.0.0.9"), path: .none(.noRoute))
    _ = state.routeChanged("db", missing, isFirst: true, [], at: now)
    #expect(state.finish(launch.run, result(.up), at: now) == .contradicted)
    #expect(state.entries["db"]?.report.status.state == .unreachable)
  }

  @Test("The return of a route ends the check that began before its loss, three times at most")
  mutating func restarted() throws {
    _ = state.put(try definition("db") { ($0.fall, $0.rise) = (1, 1) }, .runtime, at: now)
    let target = try ReachabilityTarget(host: "10.0.0.9")
    let missing = HostVerdict(target: target, path: .none(.linkDown))
    let present = HostVerdict(target: target, path: NetworkPath(flags: [.reachable], reason: nil))
    _ = state.routeChanged("db", present, isFirst: true, [], at: now)
    try check(.up)
    var launch = try #require(nextLaunches().first)
    func flap(_ state: inout ScheduleState, at now: ScheduleMoment) {
      _ = state.routeChanged("db", missing, isFirst: false, [.carrierLost], at: now)
      _ = state.routeChanged("db", present, isFirst: false, [.carrierGained], at: now)
    }
    for _ in 0..<3 {
      flap(&state, at: now)
      #expect(state.takeOutdatedRuns() == [launch.run])
      #expect(state.takeOutdatedRuns().isEmpty)
      let old = launch
      launch = try #require(state.takeStarts(at: now).first)
      #expect(state.finish(old.run, result(.down, .connectTimeout), at: now) == .ignored)
      #expect(state.limiter.running == 1)
    }
    // A route that returns and is lost faster than checks end must not prevent their results.
    flap(&state, at: now)
    #expect(state.takeOutdatedRuns().isEmpty && state.takeStarts(at: now).isEmpty)
    guard case .accepted(let change) = state.finish(launch.run, result(.up), at: now) else {
      Issue.record("the result does not count")
      return
    }
    #expect(change?.report.status.state == .up)
    // A route that changes without being missing leaves the check alone.
    launch = try #require(nextLaunches().first)
    _ = state.routeChanged("db", present, isFirst: false, [.routeReplaced], at: now)
    #expect(state.takeOutdatedRuns().isEmpty)
    #expect(state.finish(launch.run, result(.up), at: now) == .accepted(nil))
  }

  @Test("A single check without a route causes no outage")
  mutating func missedForAMoment() throws {
    _ = state.put(try definition("db"), .runtime, at: now)
    try check(.up)
    let launch = try #require(nextLaunches().first)
    #expect(state.finish(launch.run, result(.unreachable, .noRoute), settle: .milliseconds(10), at: now) == .settling)
    let found = uptime
    let again = try #require(nextLaunches().first)
    #expect((.milliseconds(10) ... .milliseconds(20)).contains(uptime - found), "\(uptime - found)")
    #expect(state.finish(again.run, result(.up), settle: .milliseconds(10), at: now) == .accepted(nil))
    // The previous one no longer counts: the next is the first one.
    let next = try #require(nextLaunches().first)
    #expect(state.finish(next.run, result(.unreachable, .noRoute), settle: .milliseconds(10), at: now) == .settling)
  }

  @Test("A route missing for checks only is debounced")
  mutating func missedByChecks() throws {
    _ = state.put(try definition("db"), .runtime, at: now)
    try check(.up)
    var launch = try #require(nextLaunches().first)
    _ = state.finish(launch.run, result(.unreachable, .prohibited), settle: .milliseconds(10), at: now)
    // A requested check does not shorten the delay.
    state.enqueue(launch.run.entry, due: uptime)
    launch = try #require(state.takeStarts(at: now).first)
    let early = state.finish(launch.run, result(.unreachable, .prohibited), settle: .milliseconds(10), at: now)
    #expect(early == .settling)
    launch = try #require(nextLaunches().first)
    let began = uptime
    let ending = state.finish(launch.run, result(.unreachable, .prohibited), settle: .milliseconds(10), at: now)
    #expect(ending.changes?.first?.report.status.state == .unreachable)
    #expect(try check(.up)?.from == .unreachable)
    #expect((.seconds(1) ... .milliseconds(1010)).contains(uptime - began), "\(uptime - began)")
  }

  @Test("New addresses change the route only without a common one")
  mutating func otherAddresses() throws {
    _ = state.put(try definition("db") { ($0.fall, $0.rise) = (1, 1) }, .runtime, at: now)
    let target = try ReachabilityTarget(host: "db.example")
    func verdict(_ addresses: [String]) -> HostVerdict {
      let path = NetworkPath(flags: [.reachable], reason: nil)
      let known = addresses.compactMap { IPAddress($0) }
      return HostVerdict(target: target, best: known.map { .init(address: $0, path: path) })
    }
    _ = state.routeChanged("db", verdict(["10.0.0.1", "10.0.0.2"]), isFirst: true, [], at: now)
    try check(.up)
    var launch = try #require(nextLaunches().first)
    _ = state.routeChanged("db", verdict(["10.0.0.2", "10.0.0.3"]), isFirst: false, [.dnsChanged], at: now)
    guard case .accepted(let news) = state.finish(launch.run, result(.down, .connectTimeout), at: now) else {
      Issue.record("it was thrown away")
      return
    }
    #expect(news?.report.status.state == .down)
    _ = state.routeChanged("db", verdict(["10.0.0.3", "10.0.0.5"]), isFirst: false, [.dnsChanged], at: now)
    #expect(state.finish(try #require(state.takeStarts(at: now).first).run, result(.up), at: now) != .retried)
    _ = state.routeChanged("db", verdict(["10.0.0.2", "10.0.0.3"]), isFirst: false, [.dnsChanged], at: now)
    #expect(state.takeStarts(at: now).isEmpty, "only of a target that is not up is it asked before its time")
    launch = try #require(nextLaunches().first)
    _ = state.routeChanged("db", verdict(["10.0.0.4"]), isFirst: false, [.dnsChanged], at: now)
    #expect(state.finish(launch.run, result(.down, .connectTimeout), at: now) == .retried)
  }
}
