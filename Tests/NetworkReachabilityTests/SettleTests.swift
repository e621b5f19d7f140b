import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("Settle time of losses")
struct SettleTests {
  @Test("E9-1 a loss is reported after the settle time")
  func lossIsHeld() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record()
    let begin = bench.kernel.uptime
    bench.loseDefault()
    #expect(recorder.statuses == [online])
    #expect(bench.monitor.snapshot.status == online)
    #expect(bench.kernel.deadline == begin + Bench.settle)
    bench.kernel.advance(by: .microseconds(9999))
    #expect(recorder.statuses == [online])
    bench.kernel.advance(by: .microseconds(1))
    #expect(recorder.statuses == [online, .notReachable])
    #expect(bench.kernel.deadline == nil)
    subscription.cancel()
  }

  @Test("E9-1 the verdict at the end of the settle time counts")
  func judgedAgain() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record()
    bench.loseDefault()
    bench.kernel.advance(by: .milliseconds(5))
    bench.kernel.change { $0.routes.append(.init(type: .blackhole, prefix: anyIPv4, hops: [])) }
    bench.kernel.advance(by: .milliseconds(5))
    #expect(recorder.updates.last?.snapshot.machine.reason == .blackhole)
    #expect(recorder.statuses == [online, .notReachable])
    subscription.cancel()
  }

  @Test("E9-1 a gain is reported immediately")
  func gain() throws {
    let bench = try Bench.started(.withoutDefault)
    let (recorder, subscription) = try bench.record()
    bench.gainDefault()
    #expect(recorder.statuses == [.notReachable, online])
    #expect(bench.kernel.deadline == nil)
    subscription.cancel()
  }

  @Test("E9-1 a replaced default route is one path update")
  func replacedDefault() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record()
    bench.loseDefault()
    bench.gainDefault(via: "10.0.0.254")
    bench.kernel.advance(by: .seconds(60))
    #expect(recorder.transitions.map(\.kind) == [.path])
    #expect(recorder.transitions.first?.causes == [.routeAdded, .routeRemoved])
    #expect(bench.monitor.snapshot.machine.ipv4.gateway == IPAddress("10.0.0.254"))
    subscription.cancel()
  }

  @Test("E9-2 a default route that returns in time is no change")
  func flap() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.all)
    let before = bench.monitor.snapshot
    bench.loseDefault()
    bench.kernel.advance(by: .milliseconds(9))
    bench.gainDefault()
    bench.kernel.advance(by: .seconds(60))
    #expect(recorder.transitions.isEmpty)
    #expect(bench.monitor.snapshot == before)
    subscription.cancel()
  }

  @Test("E9-1 a flood of events does not prolong the settle time")
  func flood() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record()
    bench.loseDefault()
    for _ in 0..<99 {
      bench.kernel.advance(by: .microseconds(100))
      bench.kernel.change([.ruleChanged])
      bench.kernel.change { $0.change("eth0") { $0.mtu ^= 1 } }
    }
    #expect(recorder.statuses == [online])
    bench.kernel.advance(by: .microseconds(100))
    #expect(recorder.statuses == [online, .notReachable])
    subscription.cancel()
  }

  @Test("A second loss has a settle time of its own")
  func secondLoss() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.status)
    bench.loseDefault()
    bench.kernel.advance(by: .milliseconds(8))
    bench.gainDefault()
    bench.loseDefault()
    bench.kernel.advance(by: .milliseconds(8))
    #expect(recorder.statuses == [online])
    bench.kernel.advance(by: .milliseconds(2))
    #expect(recorder.statuses == [online, .notReachable])
    subscription.cancel()
  }

  @Test("E9-1 with a settle time of zero losses are immediate", arguments: [Duration.zero, .milliseconds(-1)])
  func noSettle(_ settle: Duration) throws {
    let bench = try Bench.started(settle: settle)
    let (recorder, subscription) = try bench.record()
    bench.loseDefault()
    #expect(recorder.statuses == [online, .notReachable])
    #expect(bench.kernel.deadline == nil)
    subscription.cancel()
  }

  @Test("The initial state is reported without settle time")
  func initial() throws {
    let bench = Bench(.withoutDefault, settle: .seconds(3600))
    try bench.monitor.start()
    #expect(bench.monitor.snapshot.status == .notReachable)
  }

  @Test("A lost family is reported after the settle time")
  func oneFamily() throws {
    var script = KernelScript.wired
    script.addAddress("2001:db8::5/64", to: 2)
    script.addDefault(via: "fe80::1", on: 2)
    let bench = try Bench.started(script)
    #expect(bench.monitor.snapshot.machine.ipv6.status == online)
    let (recorder, subscription) = try bench.record()
    bench.loseDefault()
    #expect(recorder.transitions.isEmpty)
    bench.kernel.advance(by: Bench.settle)
    #expect(recorder.transitions.map(\.kind) == [.path])
    #expect(bench.monitor.snapshot.machine.leading.gateway == IPAddress("fe80::1"))
    bench.kernel.change { $0.removeDefaults(.ipv6) }
    bench.kernel.advance(by: Bench.settle)
    #expect(recorder.transitions.map(\.kind) == [.path, .status])
    subscription.cancel()
  }

  @Test("A change between two reasons of unreachability is immediate")
  func otherReason() throws {
    let bench = try Bench.started(.withoutDefault)
    let (recorder, subscription) = try bench.record()
    bench.kernel.change { $0.routes.append(.init(type: .prohibit, prefix: anyIPv4, hops: [])) }
    #expect(recorder.transitions.map(\.kind) == [.path])
    #expect(bench.monitor.snapshot.machine.reason == .prohibited)
    subscription.cancel()
  }

  @Test("Interface changes have no settle time")
  func interfacesAtOnce() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.all)
    bench.kernel.change { $0.change("eth0") { $0.operationalState = .down } }
    #expect(recorder.transitions.map(\.kind) == [.interface])
    bench.kernel.advance(by: Bench.settle)
    #expect(recorder.transitions.map(\.kind) == [.interface, .status])
    #expect(recorder.transitions.map(\.sequence) == [2, 3])
    subscription.cancel()
  }
}

let anyIPv4 = IPPrefix(IPAddress(ipv4: 0), length: 0)
