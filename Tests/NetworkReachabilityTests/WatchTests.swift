import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("Watched targets")
struct WatchTests {
  @Test("A watched target reports its verdict, then its changes")
  func initialAndChange() throws {
    let bench = try Bench.started()
    let target = try ReachabilityTarget(host: "192.0.2.1")
    let (recorder, subscription) = try bench.record(.host, watching: [target])
    #expect(recorder.hosts.map(\.path.status) == [online])
    bench.loseDefault()
    #expect(recorder.hosts.count == 1, "a host's loss waits, too")
    bench.kernel.advance(by: Bench.settle)
    bench.gainDefault()
    #expect(recorder.hosts.map(\.path.status) == [online, .notReachable, online])
    #expect(recorder.transitions.map(\.causes) == [[], [.routeRemoved], [.routeAdded]])
    #expect(bench.monitor.verdict(of: target)?.path.status == online)
    subscription.cancel()
    #expect(bench.monitor.verdict(of: target) == nil)
  }

  @Test("E2-1 an unreachable target is reported once, before and after start")
  func initialNotReachable() throws {
    let target = try ReachabilityTarget(host: "192.0.2.1")
    for listensFirst in [true, false] {
      let bench = Bench(.withoutDefault)
      if !listensFirst { try bench.monitor.start() }
      let (recorder, subscription) = try bench.record(watching: [target])
      if listensFirst { try bench.monitor.start() }
      bench.kernel.change()
      #expect(recorder.updates.map(\.host?.path.reason) == [nil, .noRoute])
      #expect(recorder.updates.map(\.isInitial) == [true, false])
      subscription.cancel()
    }
  }

  @Test("Each subscriber of one target receives its verdicts independently")
  func shared() throws {
    let bench = try Bench.started()
    let target = try ReachabilityTarget(host: "10.0.0.9")
    let (first, one) = try bench.record(.host, watching: [target])
    let (second, other) = try bench.record(.host, watching: [target])
    #expect(first.hosts.count == 1 && second.hosts.count == 1)
    one.cancel()
    one.cancel()
    bench.kernel.change { $0.change("eth0") { $0.operationalState = .down } }
    bench.kernel.advance(by: Bench.settle)
    #expect(first.hosts.count == 1)
    #expect(second.hosts.map(\.path.reason) == [nil, .linkDown])
    #expect(bench.monitor.verdict(of: target) != nil)
    other.cancel()
    #expect(bench.monitor.verdict(of: target) == nil)
  }

  @Test("A subscriber receives only its own targets")
  func others() throws {
    let bench = try Bench.started()
    let (near, far) = (try ReachabilityTarget(host: "10.0.0.9"), try ReachabilityTarget(host: "192.0.2.1"))
    let (first, one) = try bench.record(.host, watching: [near])
    let (second, other) = try bench.record(.host, watching: [far])
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    #expect(first.hosts.count == 1)
    #expect(second.hosts.map(\.path.status) == [online, .notReachable])
    one.cancel()
    other.cancel()
  }

  @Test("A target that is listed twice is watched once")
  func listedTwice() throws {
    let bench = try Bench.started()
    let target = try ReachabilityTarget(host: "10.0.0.9")
    let (recorder, subscription) = try bench.record(.host, watching: [target, target])
    #expect(recorder.hosts.count == 1)
    let (second, other) = try bench.record(.host, watching: [target, target])
    #expect(second.hosts.count == 1)
    subscription.cancel()
    other.cancel()
    #expect(bench.monitor.verdict(of: target) == nil)
  }

  @Test("Host changes have the machine's number and the subscription's order")
  func order() throws {
    let bench = try Bench.started()
    let targets = try ["192.0.2.9", "192.0.2.1", "default", "192.0.2.5"].map { try ReachabilityTarget(host: $0) }
    let (recorder, subscription) = try bench.record(.all, watching: targets)
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    let late = recorder.transitions.suffix(5)
    #expect(late.first?.kind == .status && late.first?.sequence == 2)
    #expect(late.dropFirst().allSatisfy { $0.sequence == 2 })
    #expect(recorder.hosts.suffix(4).map(\.target) == targets)
    #expect(bench.monitor.snapshot.sequence == 2)
    subscription.cancel()
  }

  @Test("E4-8 a scoped target is reachable when its interface appears")
  func interfaceAppears() throws {
    let bench = try Bench.started()
    let target = try ReachabilityTarget(host: "10.9.0.9", interface: "eth9")
    let (recorder, subscription) = try bench.record(.host, watching: [target])
    #expect(recorder.hosts.map(\.path.reason) == [.unknownInterface])
    bench.kernel.change { $0.addInterface(9, "eth9", addresses: ["10.9.0.5/24"]) }
    #expect(recorder.hosts.last?.path.flags == [.reachable, .isDirect])
    bench.kernel.change { $0.change("eth9") { $0.name = "eth8" } }
    bench.kernel.advance(by: Bench.settle)
    #expect(recorder.hosts.last?.path.reason == .unknownInterface)
    subscription.cancel()
  }

  @Test("E4-6 a pair is unreachable without its local address")
  func pairLosesSource() throws {
    let bench = try Bench.started()
    let target = try ReachabilityTarget(host: "10.0.0.9", source: "10.0.0.5")
    let (recorder, subscription) = try bench.record(.host, watching: [target])
    bench.kernel.change { $0.addresses.removeAll { $0.interfaceIndex == 2 } }
    bench.kernel.advance(by: Bench.settle)
    #expect(recorder.hosts.map(\.path.reason) == [nil, .noSource])
    subscription.cancel()
  }

  @Test("Targets survive a restart only through new subscriptions")
  func restart() throws {
    let bench = try Bench.started()
    let target = try ReachabilityTarget(host: "10.0.0.9")
    let (_, subscription) = try bench.record(.host, watching: [target])
    bench.monitor.stop()
    #expect(bench.monitor.verdict(of: target) == nil)
    try bench.monitor.start()
    #expect(bench.monitor.verdict(of: target) == nil)
    let (recorder, other) = try bench.record(.host, watching: [target])
    subscription.cancel()
    #expect(recorder.hosts.count == 1)
    #expect(bench.monitor.verdict(of: target) != nil, "an old subscription's end is not this one's")
    other.cancel()
  }

  @Test("A thousand targets report all verdicts and changes")
  func thousand() throws {
    let bench = try Bench.started()
    let targets = (0..<1000).map { ReachabilityTarget(.address(IPAddress(ipv4: 0xc000_0200 + $0))) }
    let (recorder, subscription) = try bench.record([.status, .host], watching: targets)
    #expect(Set(recorder.hosts.map(\.target)).count == 1000)
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    let last = Dictionary(recorder.hosts.map { ($0.target, $0.path.status) }, uniquingKeysWith: { $1 })
    #expect(last.count == 1000 && last.values.allSatisfy { $0 == .notReachable })
    #expect(recorder.statuses.last == .notReachable)
    subscription.cancel()
  }

  @Test("A subscription beyond 100,000 targets is refused as a whole")
  func limit() async throws {
    let bench = Bench()
    let targets = (0..<100_000).map { ReachabilityTarget(.address(IPAddress(ipv4: 0x0b00_0000 + $0))) }
    let extra = try ReachabilityTarget(host: "192.0.2.1")
    let full = try #require(bench.monitor.listen(watching: targets, on: .immediate) { _ in })
    let heard = UpdateRecorder()
    #expect(bench.monitor.listen(watching: [targets[0], extra], on: .immediate) { heard.record($0) } == nil)
    var refused = bench.monitor.updates(watching: [extra]).makeAsyncIterator()
    #expect(await refused.next() == nil)
    let shared = bench.monitor.listen(watching: [targets[0]], on: .immediate) { _ in }
    #expect(shared != nil, "a target that is watched already costs nothing")
    full.cancel()
    let (recorder, subscription) = try bench.record(.host, watching: [extra])
    try bench.monitor.start()
    #expect(recorder.hosts.map(\.target) == [extra])
    #expect(bench.monitor.verdict(of: targets[0]) != nil && bench.monitor.verdict(of: targets[1]) == nil)
    #expect(heard.updates.isEmpty)
    subscription.cancel()
  }
}
