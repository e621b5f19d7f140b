import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("Order of transitions")
struct OrderTests {
  /// Some changes of a network.
  func live(_ bench: Bench) {
    bench.kernel.change { $0.addInterface(3, "wlan0", .wifi, addresses: ["10.0.3.5/24"]) }
    bench.kernel.change([.routeAdded]) { $0.addDefault(via: "10.0.3.1", on: 3, metric: 600) }
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    bench.kernel.change { $0.change("eth0") { $0.operationalState = .down } }
    bench.kernel.change { $0.interfaces.removeAll { $0.name == "wlan0" } }
    bench.kernel.fail(KernelError(operation: "recv", errno: 105, message: "no buffer space"))
    bench.kernel.change([.resync]) { $0 = .wired }
    bench.kernel.advance(by: Bench.settle)
  }

  @Test("Sinks and listeners receive the same transitions in order")
  func sinkAndListener() throws {
    let bench = Bench()
    let sink = RecordingSink()
    bench.monitor.attach(sink)
    let targets = [ReachabilityTarget.default, .localLink, try ReachabilityTarget(host: "10.0.3.9")]
    let (recorder, subscription) = try bench.record(.all, watching: targets)
    try bench.monitor.start()
    let first = sink.transitions.count
    live(bench)
    let told = recorder.transitions.filter { $0.sequence > 1 }
    #expect(told == Array(sink.transitions.dropFirst(first)).filter { $0.sequence > 1 })
    #expect(told.count > 10)
    #expect(sink.calls.first?.0.isEmpty == true, "a sink is told the snapshot when it is attached")
    subscription.cancel()
  }

  @Test("Numbers are consecutive, and the snapshot has the last one")
  func numbers() throws {
    let bench = Bench()
    let sink = RecordingSink()
    bench.monitor.attach(sink)
    try bench.monitor.start()
    live(bench)
    let numbers = sink.transitions.filter { $0.kind != .host }.map(\.sequence)
    #expect(numbers == Array(1...UInt64(numbers.count)))
    for (transitions, snapshot) in sink.calls {
      #expect(transitions.last.map { $0.sequence == snapshot.sequence } ?? true)
    }
    #expect(sink.calls.last?.1 == bench.monitor.snapshot)
  }

  @Test("A snapshot and later transitions give the later snapshot")
  func fold() throws {
    let targets = [ReachabilityTarget.default, .localLink, try ReachabilityTarget(host: "10.0.3.9")]
    let bench = try Bench.started()
    var subscribers: [(UpdateRecorder, ReachabilityMonitor.Subscription)] = []
    subscribers.append(try bench.record(.all, watching: targets))
    live(bench)
    subscribers.append(try bench.record(.all, watching: targets))
    live(bench)
    for (recorder, subscription) in subscribers {
      let initial = try #require(recorder.updates.first)
      #expect(initial.isInitial)
      var fold = Fold(initial.snapshot)
      for update in recorder.updates.dropFirst() { fold.take(update) }
      #expect(fold.problems.isEmpty)
      #expect(fold.snapshot == bench.monitor.snapshot)
      for target in targets { #expect(fold.hosts[target] == bench.monitor.verdict(of: target)) }
      subscription.cancel()
    }
  }

  @Test("Transitions have the reading's time; the status has since")
  func times() throws {
    let bench = try Bench.started()
    let start = try #require(bench.monitor.snapshot.since)
    #expect(start.description == "2026-01-01T00:00:00.000000Z")
    let (recorder, subscription) = try bench.record()
    bench.kernel.advance(by: .seconds(60))
    bench.gainDefault(via: "10.0.0.2", [])
    bench.kernel.change([.routeReplaced]) { $0.addDefault(via: "10.0.0.3", on: 2, metric: 1) }
    #expect(recorder.transitions.last?.kind == .path)
    #expect(recorder.transitions.last?.time.description == "2026-01-01T00:01:00.000000Z")
    #expect(bench.monitor.snapshot.since == start, "another way is not another status")
    bench.loseDefault()
    bench.kernel.advance(by: .seconds(1))
    #expect(bench.monitor.snapshot.since?.description == "2026-01-01T00:01:00.010000Z")
    subscription.cancel()
  }

  @Test("Only the first verdict is marked as initial")
  func initialFlag() throws {
    let bench = Bench()
    let sink = RecordingSink()
    bench.monitor.attach(sink)
    try bench.monitor.start()
    live(bench)
    let initials = sink.transitions.compactMap { transition -> Bool? in
      guard case .status(_, _, let initial) = transition.change else { return nil }
      return initial
    }
    #expect(initials.first == true && initials.dropFirst().allSatisfy { !$0 } && initials.count > 2)
  }
}
