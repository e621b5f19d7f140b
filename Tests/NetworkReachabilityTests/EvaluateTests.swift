import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("Evaluation of one target")
struct EvaluateTests {
  @Test("A-03 A-05 an evaluation needs no start and releases everything")
  func beforeStart() throws {
    let bench = Bench()
    let (recorder, subscription) = try bench.record(.all)
    #expect(try bench.monitor.evaluate(.default).path.status == online)
    #expect(
      try bench.monitor.evaluate(ReachabilityTarget(host: "127.0.0.1")).path.flags == [.reachable, .isLocalAddress])
    #expect(recorder.updates.isEmpty)
    #expect(bench.monitor.snapshot == .unknown(.starting), "B-03: the told status stays unknown")
    #expect(bench.kernel.deadline == nil)
    subscription.cancel()
  }

  @Test("A started monitor evaluates again without settle time or events")
  func whileStarted() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.all)
    bench.loseDefault()
    #expect(bench.monitor.snapshot.status == online)
    #expect(try bench.monitor.evaluate(.default).path == .none(.noRoute))
    bench.kernel.changeWithoutEvent { $0.addDefault(via: "10.0.0.1", on: 2) }
    #expect(try bench.monitor.evaluate(.default).path.status == online)
    #expect(bench.kernel.lookUpCount == 8, "two families of two halves, twice")
    #expect(recorder.transitions.isEmpty)
    subscription.cancel()
  }

  @Test("E3-3 E3-8 a name is evaluated by the default path alone")
  func names() throws {
    for started in [false, true] {
      let bench = Bench()
      if started { try bench.monitor.start() }
      let target = try ReachabilityTarget(host: "does-not-exist.invalid")
      let up = try bench.monitor.evaluate(target)
      #expect(up.path.status == online && up.phase == .optimistic)
      bench.loseDefault()
      #expect(try bench.monitor.evaluate(target).path == .none(.noRoute))
      let known = NameResolution.addresses([try #require(IPAddress("10.0.0.9"))])
      let judged = try bench.monitor.evaluate(target, resolution: known)
      #expect(judged.path.flags == [.reachable, .isDirect] && judged.phase == .resolved)
      #expect(try bench.monitor.evaluate(target, resolution: .notFound).path == .none(.dnsNotFound))
    }
  }

  @Test("Targets without lookups make none")
  func withoutQuestion() throws {
    let bench = try Bench.started()
    #expect(try bench.monitor.evaluate(.localLink).path.flags == [.reachable, .isDirect])
    #expect(
      try bench.monitor.evaluate(ReachabilityTarget(host: "10.0.0.9", interface: "eth9")).path
        == .none(.unknownInterface))
    #expect(
      try bench.monitor.evaluate(ReachabilityTarget(host: "fd00::9", source: "fd00::99")).path == .none(.noSource))
    #expect(bench.kernel.lookUpCount == 0)
  }

  @Test("A failed lookup throws")
  func refused() throws {
    let bench = Bench()
    let error = KernelError(operation: "socket", errno: 1, message: "Operation not permitted")
    bench.kernel.refuseStart(error)
    #expect(throws: error) { try bench.monitor.evaluate(.default) }
  }

  @Test(
    "E4-3 the three kinds of address",
    arguments: [
      ("10.0.0.5", [.reachable, .isLocalAddress, .isDirect]), ("127.0.0.1", [.reachable, .isLocalAddress]),
      ("10.0.0.9", [.reachable, .isDirect]), ("192.0.2.1", [.reachable]),
    ] as [(String, ReachabilityFlags)])
  func addresses(_ host: String, _ flags: ReachabilityFlags) throws {
    for started in [false, true] {
      let bench = Bench()
      if started { try bench.monitor.start() }
      #expect(try bench.monitor.evaluate(ReachabilityTarget(host: host)).path.flags == flags)
      #expect(try bench.monitor.evaluate(ReachabilityTarget(host: "::ffff:" + host)).path.flags == flags, "E4-4")
    }
  }

  @Test("An evaluation does not affect listeners")
  func undisturbed() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.all)
    for _ in 0..<50 { _ = try bench.monitor.evaluate(.default) }
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    #expect(recorder.statuses == [online, .notReachable])
    subscription.cancel()
  }
}
