import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("Failures of the kernel")
struct KernelFailureTests {
  let error = KernelError(operation: "recv", errno: 105, message: "No buffer space available")

  @Test("The machine is unknown until the next reading")
  func machine() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record()
    bench.kernel.fail(error)
    #expect(recorder.statuses == [online, .unknown])
    #expect(bench.monitor.snapshot.machine.reason == .kernelUnavailable)
    bench.kernel.change([.resync])
    #expect(recorder.statuses == [online, .unknown, online])
    #expect(recorder.transitions.map(\.causes) == [[], [.resync]])
    subscription.cancel()
  }

  @Test("From unknown to unreachable there is no settle time")
  func recoversWithoutWay() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record()
    bench.kernel.fail(error)
    bench.loseDefault()
    #expect(recorder.statuses == [online, .unknown, .notReachable])
    #expect(bench.kernel.deadline == nil)
    subscription.cancel()
  }

  @Test("A second failure is no change")
  func twice() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record()
    for _ in 0..<5 { bench.kernel.fail(error) }
    #expect(recorder.statuses == [online, .unknown])
    subscription.cancel()
  }

  @Test("Watched targets are unknown with the machine")
  func hosts() throws {
    let bench = try Bench.started()
    let targets = [try ReachabilityTarget(host: "10.0.0.9"), try ReachabilityTarget(host: "192.0.2.1"), .localLink]
    let (recorder, subscription) = try bench.record(.host, watching: targets)
    bench.kernel.fail(error)
    for target in targets {
      #expect(bench.monitor.verdict(of: target)?.path == .unknown(.kernelUnavailable), "\(target)")
    }
    #expect(recorder.hosts.dropFirst(3).map(\.target) == targets)
    bench.kernel.fail(error)
    #expect(recorder.hosts.count == 6)
    bench.kernel.change()
    #expect(recorder.hosts.suffix(3).map(\.path.status) == [online, online, online])
    #expect(recorder.hosts.count == 9)
    subscription.cancel()
  }

  @Test("A failure discards a loss in its settle time")
  func waiting() throws {
    let bench = try Bench.started()
    let target = try ReachabilityTarget(host: "192.0.2.1")
    let (recorder, subscription) = try bench.record([.status, .host], watching: [target])
    bench.loseDefault()
    bench.kernel.fail(error)
    bench.gainDefault()
    bench.kernel.advance(by: .seconds(1))
    #expect(recorder.transitions.filter { $0.kind == .status }.count == 2)
    #expect(recorder.hosts.map(\.path.status) == [online, .unknown, online])
    subscription.cancel()
  }

  @Test("A family is unknown after a failed lookup")
  func failedLookup() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.status)
    bench.kernel.change { script in
      for family in IPAddress.Family.allCases {
        for query in StatusRules.defaultQueries(family) { script.overrides[query] = .refused(.failed(errno: 12)) }
      }
    }
    #expect(recorder.statuses == [online])
    bench.kernel.advance(by: Bench.settle)
    #expect(recorder.statuses == [online, .unknown])
    #expect(bench.monitor.snapshot.machine.reason == .kernelUnavailable)
    bench.kernel.change { $0.overrides = [:] }
    #expect(recorder.statuses == [online, .unknown, online])
    subscription.cancel()
  }

  @Test("A subscriber during a failure receives unknown first")
  func subscribesMeanwhile() throws {
    let bench = try Bench.started()
    bench.kernel.fail(error)
    let (recorder, subscription) = try bench.record()
    #expect(recorder.statuses == [.unknown])
    #expect(recorder.updates.first?.isInitial == true)
    subscription.cancel()
  }

  @Test("A repeated interface is no error")
  func duplicateInterfaces() throws {
    let bench = try Bench.started()
    bench.kernel.change { script in
      let copies = script.interfaces
      script.interfaces += copies
      script.addresses += script.addresses
    }
    bench.kernel.change { $0.change("eth0") { $0.mtu = 1400 } }
    #expect(bench.monitor.snapshot.interfaces.map(\.interface.name) == ["lo", "eth0"])
    #expect(bench.monitor.snapshot.status == online)
  }

  @Test("A failure before the first reading is no initial state")
  func beforeFirstReading() throws {
    let source = RunTests.Source()
    let monitor = RunTests.monitor([source])
    let recorder = UpdateRecorder()
    let subscription = monitor.listen(on: .immediate) { recorder.record($0) }
    let error = error
    source.beforeStart.withLock { action in
      action = { [unowned source] in
        source.observer.value?.kernelFailed(error, at: Timestamp(microseconds: 0))
      }
    }
    try monitor.start()
    #expect(recorder.statuses == [online])
    #expect(recorder.updates.first?.isInitial == true)
    withExtendedLifetime(subscription) {}
  }
}
