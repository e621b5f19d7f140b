import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("Starting and stopping")
struct LifecycleTests {
  @Test("B-03 the state is unknown before start and after stop")
  func states() throws {
    let bench = Bench()
    #expect(bench.monitor.snapshot == .unknown(.starting))
    try bench.monitor.start()
    #expect(bench.monitor.snapshot.status == online && bench.monitor.snapshot.sequence == 1)
    bench.monitor.stop()
    #expect(bench.monitor.snapshot.status == .unknown)
    #expect(bench.monitor.snapshot.machine.reason == .starting)
    #expect(bench.monitor.snapshot.interfaces.isEmpty)
  }

  @Test("A-06 a restart reports the initial state again")
  func restart() throws {
    let bench = Bench()
    for round in 1...5 {
      let (recorder, subscription) = try bench.record()
      try bench.monitor.start()
      #expect(recorder.statuses == [online], "round \(round)")
      bench.monitor.stop()
      bench.loseDefault()
      bench.gainDefault()
      #expect(recorder.statuses == [online], "nothing after the stop")
      subscription.cancel()
    }
  }

  @Test("Numbers continue after a restart")
  func numbers() throws {
    let bench = Bench()
    let sink = RecordingSink()
    bench.monitor.attach(sink)
    for _ in 0..<3 {
      try bench.monitor.start()
      bench.gainDefault(via: "10.0.0.2")
      bench.loseDefault()
      bench.gainDefault()
      bench.monitor.stop()
    }
    #expect(sink.transitions.map(\.sequence) == Array(1...UInt64(sink.transitions.count)))
    #expect(sink.transitions.count >= 3)
  }

  @Test("A second start has no effect")
  func startTwice() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.all)
    try bench.monitor.start()
    try bench.monitor.start()
    #expect(recorder.updates.count == 1)
    bench.gainDefault(via: "10.0.0.2")
    subscription.cancel()
  }

  @Test("E6-4 a start that the kernel refuses throws and changes nothing")
  func refusedStart() throws {
    let bench = Bench()
    let error = KernelError(operation: "socket", errno: 1, message: "Operation not permitted")
    bench.kernel.refuseStart(error)
    let (recorder, subscription) = try bench.record()
    for _ in 0..<3 { #expect(throws: error) { try bench.monitor.start() } }
    #expect(recorder.updates.isEmpty && bench.monitor.snapshot.status == .unknown)
    #expect(bench.monitor.snapshot.machine.reason == .kernelUnavailable)
    bench.kernel.refuseStart(nil)
    try bench.monitor.start()
    #expect(recorder.statuses == [online])
    subscription.cancel()
  }

  @Test("E2-8 repeated stops and cancels have no effect")
  func stopAgain() throws {
    let bench = Bench()
    bench.monitor.stop()
    bench.monitor.stop()
    let (recorder, subscription) = try bench.record()
    subscription.cancel()
    subscription.cancel()
    try bench.monitor.start()
    bench.monitor.stop()
    bench.monitor.stop()
    subscription.cancel()
    #expect(recorder.updates.isEmpty)
  }

  @Test("A stop ends subscriptions made before the start, too")
  func stopEnds() throws {
    let bench = Bench()
    let (before, one) = try bench.record()
    try bench.monitor.start()
    let (after, other) = try bench.record()
    bench.monitor.stop()
    try bench.monitor.start()
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    #expect(before.updates.count == 1 && after.updates.count == 1)
    one.cancel()
    other.cancel()
  }

  @Test("E8-2 a cancelled subscription stays silent after a restart")
  func cancelIsFinal() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.all)
    subscription.cancel()
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    bench.monitor.stop()
    try bench.monitor.start()
    bench.gainDefault()
    #expect(recorder.updates.count == 1, "the state at its start, and nothing after it")
    let (again, other) = try bench.record()
    #expect(again.updates.count == 1)
    other.cancel()
  }

  @Test("E2-10 a listener may stop the monitor")
  func stopInListener() throws {
    let bench = Bench()
    let calls = Shared(0)
    let monitor = bench.monitor
    let subscription = monitor.listen(on: .immediate) { [weak monitor] _ in
      calls.withLock { $0 += 1 }
      monitor?.stop()
    }
    let (other, otherSubscription) = try bench.record()
    try monitor.start()
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    #expect(calls.value == 1)
    #expect(other.updates.count <= 1)
    #expect(monitor.snapshot.status == .unknown)
    withExtendedLifetime((subscription, otherSubscription)) {}
  }

  @Test("E2-10 a listener may restart the monitor and listen again")
  func restartInListener() throws {
    let bench = Bench()
    let monitor = bench.monitor
    let recorder = UpdateRecorder()
    let second = Shared<ReachabilityMonitor.Subscription?>(nil)
    let first = monitor.listen(on: .immediate) { [weak monitor] update in
      guard update.status == .notReachable, let monitor else { return }
      monitor.stop()
      let again = monitor.listen(on: .immediate) { recorder.record($0) }
      second.withLock { $0 = again }
      try? monitor.start()
    }
    try monitor.start()
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    #expect(recorder.statuses == [.notReachable])
    #expect(monitor.snapshot.status == .notReachable)
    bench.gainDefault()
    bench.loseDefault()
    #expect(bench.kernel.deadline != nil, "the restarted source waits for the loss")
    bench.kernel.advance(by: Bench.settle)
    #expect(recorder.statuses == [.notReachable, online, .notReachable])
    withExtendedLifetime((first, second)) {}
  }

  @Test("E2-10 a listener may cancel itself and subscribe again")
  func cancelInListener() throws {
    let bench = try Bench.started()
    let own = Shared<ReachabilityMonitor.Subscription?>(nil)
    let later = Shared<[ReachabilityMonitor.Subscription]>([])
    let (calls, laterCalls) = (Shared(0), Shared(0))
    let monitor = bench.monitor
    let subscription = monitor.listen(on: .immediate) { [weak monitor] update in
      calls.withLock { $0 += 1 }
      guard !update.isInitial else { return }
      let mine = own.value
      mine?.cancel()
      let target = ReachabilityTarget(.address(IPAddress(ipv4: 0x0a00_0009)))
      let next = monitor?.listen(watching: [target], on: .immediate) { _ in laterCalls.withLock { $0 += 1 } }
      if let next { later.withLock { $0.append(next) } }
    }
    own.withLock { $0 = subscription }
    bench.gainDefault(via: "10.0.0.2", [])
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    bench.gainDefault()
    #expect(calls.value == 2)
    #expect(laterCalls.value >= 3)
    own.withLock { $0 = nil }
  }

  @Test("Changes made inside a listener are delivered in order")
  func changeInListener() throws {
    let bench = try Bench.started()
    let kernel = bench.kernel
    let (depth, deepest, heard) = (Shared(0), Shared(0), Shared<[UInt64]>([]))
    let subscription = bench.monitor.listen(to: .all, on: .immediate) { update in
      let now = depth.withLock { depth in
        depth += 1
        return depth
      }
      deepest.withLock { $0 = max($0, now) }
      if let sequence = update.transition?.sequence { heard.withLock { $0.append(sequence) } }
      if update.snapshot.sequence < 20 { kernel.change { $0.change("eth0") { $0.mtu += 1 } } }
      depth.withLock { $0 -= 1 }
    }
    kernel.change { $0.change("eth0") { $0.mtu += 1 } }
    #expect(deepest.value == 1)
    #expect(heard.value == Array(2...21))
    withExtendedLifetime(subscription) {}
  }
}
