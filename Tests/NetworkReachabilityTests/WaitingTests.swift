import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

/// A kernel that answers nothing after its first reading.
private final class SilentKernel: KernelSource {
  private let kernel = ScriptedKernel(.wired)
  let timeSinceProgress = Duration.zero

  func start(_ observer: any KernelObserver) throws(KernelError) { try kernel.start(observer) }
  func refresh() {}
  func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] { try kernel.lookUp(queries) }
  func stop() { kernel.stop() }
}

/// Waiting for a way to come back, as a retry after an offline error does.
@Suite
struct WaitingTests {
  private static let patience = Duration.seconds(30)

  private static func plug(_ script: inout KernelScript) {
    script.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
    script.addDefault(via: "10.0.0.1", on: 2)
  }

  @Test("A wait for a reachable target ends immediately")
  func already() async throws {
    let kernel = ScriptedKernel()
    kernel.change { Self.plug(&$0) }
    let monitor = ReachabilityMonitor(kernel: kernel)
    try monitor.start()
    #expect(await monitor.waitUntilReachable(timeout: Self.patience))
  }

  @Test(
    "The first verdicts of a started monitor count without timeout",
    arguments: [.zero, .milliseconds(1), .seconds(-1), .seconds(Int64.min)] as [Duration])
  func noTime(_ timeout: Duration) async throws {
    let kernel = ScriptedKernel()
    kernel.change { Self.plug(&$0) }
    let monitor = ReachabilityMonitor(configuration: .init(settle: .zero), kernel: kernel)
    try monitor.start()
    for target in [.default, try ReachabilityTarget(host: "10.0.0.9"), try ReachabilityTarget(host: "192.0.2.1")] {
      for _ in 0..<20 { #expect(await monitor.waitUntilReachable(target, timeout: timeout)) }
    }
    kernel.change { $0.removeDefaults(.ipv4) }
    #expect(await !monitor.waitUntilReachable(timeout: timeout))
    monitor.stop()
    #expect(await !monitor.waitUntilReachable(timeout: timeout))
  }

  @Test("The real kernel's first verdicts count without timeout", .enabled(if: Namespace.isSupported))
  func noTimeForTheKernel() async throws {
    let pair = try VethPair()
    let monitor = ReachabilityMonitor()
    try pair.addDefaultRoutes()
    try pair.client.run { try monitor.start() }
    for _ in 0..<5 { #expect(await monitor.waitUntilReachable(timeout: .zero)) }
    #expect(await monitor.waitUntilReachable(try ReachabilityTarget(host: "192.0.2.1"), timeout: .zero))
    monitor.stop()
  }

  @Test("A wait ends although the kernel sends nothing")
  func silentKernel() async throws {
    let kernel = SilentKernel()
    let monitor = ReachabilityMonitor(kernel: { kernel })
    try monitor.start()
    #expect(await !monitor.waitUntilReachable(timeout: .zero))
  }

  @Test("The longest timeouts are valid", arguments: [.seconds(Int64.max), .seconds(3_000_000_001)] as [Duration])
  func longestTimes(_ timeout: Duration) async throws {
    let kernel = ScriptedKernel()
    let monitor = ReachabilityMonitor(kernel: kernel)
    try monitor.start()
    let waiter = Task { await monitor.waitUntilReachable(timeout: timeout) }
    while monitor.verdict(of: .default) == nil { await Task.yield() }
    kernel.change { Self.plug(&$0) }
    #expect(await waiter.value)
  }

  @Test("AO-1, AO-4 a restored route ends all waits")
  func released() async throws {
    let kernel = ScriptedKernel()
    let monitor = ReachabilityMonitor(kernel: kernel)
    try monitor.start()
    let waiters = (0..<4).map { _ in Task { await monitor.waitUntilReachable(timeout: Self.patience) } }
    // The route returns before or after a waiter's first verdict; both must end the wait.
    await Task.yield()
    kernel.change { Self.plug(&$0) }
    for waiter in waiters { #expect(await waiter.value) }
  }

  @Test("AO-5 a monitor can wait through a second outage")
  func again() async throws {
    let kernel = ScriptedKernel()
    let monitor = ReachabilityMonitor(configuration: .init(settle: .zero), kernel: kernel)
    try monitor.start()
    for _ in 0..<2 {
      kernel.change { $0.removeDefaults(.ipv4) }
      #expect(!monitor.snapshot.status.isReachable)
      let waiter = Task { await monitor.waitUntilReachable(timeout: Self.patience) }
      kernel.change { script in
        if script.interfaces.count == 1 { Self.plug(&script) } else { script.addDefault(via: "10.0.0.1", on: 2) }
      }
      #expect(await waiter.value)
    }
  }

  @Test("AO-3, AO-6 a timeout returns false to every caller")
  func timedOut() async throws {
    let kernel = ScriptedKernel()
    let monitor = ReachabilityMonitor(kernel: kernel)
    try monitor.start()
    let waiters = (0..<4).map { _ in Task { await monitor.waitUntilReachable(timeout: .milliseconds(10)) } }
    for waiter in waiters { #expect(await !waiter.value) }
  }

  @Test("A cancelled wait returns false")
  func cancelled() async throws {
    let kernel = ScriptedKernel()
    let monitor = ReachabilityMonitor(kernel: kernel)
    try monitor.start()
    let waiter = Task { await monitor.waitUntilReachable(timeout: Self.patience) }
    waiter.cancel()
    #expect(await !waiter.value)
  }

  @Test("Stopping the monitor ends a wait with false")
  func stopped() async throws {
    let kernel = ScriptedKernel()
    let monitor = ReachabilityMonitor(kernel: kernel)
    try monitor.start()
    let waiter = Task { await monitor.waitUntilReachable(timeout: Self.patience) }
    while monitor.verdict(of: .default) == nil { await Task.yield() }
    monitor.stop()
    #expect(await !waiter.value)
  }

  @Test("An unresolved name ends no wait")
  func optimistic() {
    let reachable = NetworkPath(flags: .reachable)
    let target = ReachabilityTarget(.name("db.internal"))
    #expect(!HostVerdict(target: target, path: reachable, phase: .optimistic).isConfirmedReachable)
    #expect(HostVerdict(target: target, path: reachable, phase: .resolved).isConfirmedReachable)
  }

  @Test("A condition is evaluated when all targets have verdicts")
  func several() async throws {
    let kernel = ScriptedKernel()
    kernel.change { Self.plug(&$0) }
    let monitor = ReachabilityMonitor(kernel: kernel)
    try monitor.start()
    let targets = [
      ReachabilityTarget.default, try ReachabilityTarget(host: "10.0.0.9"),
      try ReachabilityTarget(host: "10.0.0.9", interface: "eth9"),
    ]
    let outcome = await monitor.wait(for: targets, timeout: .milliseconds(50)) { verdicts in
      #expect(verdicts.count == 3)
      return verdicts.allSatisfy(\.isConfirmedReachable)
    }
    #expect(!outcome.isFulfilled)
    #expect(outcome.verdicts.filter(\.isConfirmedReachable).count == 2)
    let any = await monitor.wait(for: targets, timeout: Self.patience) { $0.contains(where: \.isConfirmedReachable) }
    #expect(any.isFulfilled)
  }

  @Test("Verdicts have the order of the targets")
  func order() async throws {
    let kernel = ScriptedKernel()
    kernel.change { Self.plug(&$0) }
    let monitor = ReachabilityMonitor(kernel: kernel)
    try monitor.start()
    let targets = try (0..<2_000).map { try ReachabilityTarget(host: "10.1.\($0 / 200).\($0 % 200)") }
    let outcome = await monitor.wait(for: targets + targets.reversed(), timeout: Self.patience) { verdicts in
      #expect(verdicts.count == targets.count)
      return verdicts.allSatisfy(\.isConfirmedReachable)
    }
    #expect(outcome.isFulfilled)
    #expect(outcome.verdicts.map(\.target) == targets)
  }
}
