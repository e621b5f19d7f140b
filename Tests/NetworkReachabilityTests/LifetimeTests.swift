import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("Lifetimes of monitors, subscriptions and sources")
struct LifetimeTests {
  /// Counts the objects that closures or monitors retain.
  final class Token: Sendable {}

  @Test(
    "A-08 A-09 releasing the monitor ends its subscriptions",
    arguments: [
      false, true,
    ])
  func dropped(_ started: Bool) throws {
    let kernel = ScriptedKernel(.wired)
    var monitor: ReachabilityMonitor? = ReachabilityMonitor(kernel: kernel)
    weak let watched = monitor
    let recorder = UpdateRecorder()
    let subscription = monitor?.listen(on: .immediate) { recorder.record($0) }
    if started { try monitor?.start() }
    monitor = nil
    #expect(watched == nil, "neither the subscription nor the source keeps it")
    kernel.change { $0.removeDefaults(.ipv4) }
    kernel.advance(by: .seconds(1))
    #expect(recorder.updates.count == (started ? 1 : 0))
    subscription?.cancel()
  }

  @Test("A listener's closure is released with its subscription or monitor", arguments: 0..<4)
  func closures(_ way: Int) throws {
    let kernel = ScriptedKernel(.wired)
    var monitor: ReachabilityMonitor? = ReachabilityMonitor(kernel: kernel)
    try monitor?.start()
    var token: Token? = Token()
    weak let watched = token
    var subscription: ReachabilityMonitor.Subscription?
    if let held = token {
      subscription = monitor?.listen(on: .immediate) { _ in withExtendedLifetime(held) {} }
    }
    token = nil
    #expect(watched != nil)
    switch way {
    case 0: subscription?.cancel()
    case 1: subscription = nil
    case 2: monitor?.stop()
    default: monitor = nil
    }
    #expect(watched == nil)
    withExtendedLifetime((subscription, monitor)) {}
  }

  @Test("A cancelled subscription releases the listener that retains it")
  func cycle() throws {
    final class Owner: Sendable {
      let subscription = Shared<ReachabilityMonitor.Subscription?>(nil)
    }
    let bench = try Bench.started()
    var owner: Owner? = Owner()
    weak let watched = owner
    if let owner {
      let subscription = bench.monitor.listen(on: .immediate) { _ in withExtendedLifetime(owner) {} }
      owner.subscription.withLock { $0 = subscription }
      subscription?.cancel()
    }
    owner = nil
    #expect(watched == nil)
  }

  @Test("E2-9 a listener may release the last reference")
  func droppedInListener() throws {
    let kernel = ScriptedKernel(.wired)
    let holder = Shared<ReachabilityMonitor?>(ReachabilityMonitor(kernel: kernel))
    weak let watched = holder.value
    let calls = Shared(0)
    let subscription = watched?.listen(on: .immediate) { update in
      calls.withLock { $0 += 1 }
      guard !update.isInitial else { return }
      let last = holder.withLock { holder in
        defer { holder = nil }
        return holder
      }
      withExtendedLifetime(last) {}
    }
    try watched?.start()
    kernel.change { $0.addDefault(via: "10.0.0.2", on: 2, metric: 1) }
    kernel.change { $0.addDefault(via: "10.0.0.3", on: 2, metric: 0) }
    #expect(calls.value == 2)
    #expect(watched == nil)
    withExtendedLifetime(subscription) {}
  }

  @Test("E2-9 the last reference may be released during a call")
  func droppedMeanwhile() throws {
    for _ in 0..<200 {
      let kernel = ScriptedKernel(.wired)
      var monitor: ReachabilityMonitor? = ReachabilityMonitor(kernel: kernel)
      weak let watched = monitor
      let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let finished = Shared(false)
      let queue = DispatchQueue(label: "listener")
      let subscription = monitor?.listen(on: .queue(queue)) { _ in
        entered.signal()
        release.wait()
        finished.withLock { $0 = true }
      }
      try monitor?.start()
      entered.wait()
      DispatchQueue.global().async { release.signal() }
      monitor = nil
      #expect(finished.value, "the stop waits for the call that is under way")
      #expect(watched == nil)
      subscription?.cancel()
    }
  }

  @Test("A source is released after the stop")
  func source() throws {
    let made = Shared<[Weak]>([])
    struct Weak: Sendable { weak let kernel: ScriptedKernel? }
    let monitor = ReachabilityMonitor(kernel: {
      let kernel = ScriptedKernel(.wired)
      made.withLock { $0.append(Weak(kernel: kernel)) }
      return kernel
    })
    for _ in 0..<3 {
      try monitor.start()
      monitor.stop()
    }
    _ = try monitor.evaluate(.default)
    #expect(made.withLock { $0.map { $0.kernel == nil } } == [true, true, true, true])
  }
}
