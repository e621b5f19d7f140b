import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("The scripted kernel follows the contract of KernelSource")
struct ScriptedKernelTests {
  /// An observer that records whether readings overlap, and that can act during one.
  final class Observer: KernelObserver {
    let depth = Shared((now: 0, deepest: 0, readings: 0))
    let inside: @Sendable (Int) -> Void
    init(_ inside: @escaping @Sendable (Int) -> Void = { _ in }) { self.inside = inside }

    func routeQueries(for survey: KernelSurvey) -> [RouteQuery] { StatusRules.defaultQueries(.ipv4) }

    func ingest(_ reading: KernelReading) -> Duration? {
      let number = depth.withLock { depth in
        depth.now += 1
        depth.readings += 1
        depth.deepest = max(depth.deepest, depth.now)
        return depth.readings
      }
      inside(number)
      depth.withLock { $0.now -= 1 }
      return number < 3 ? reading.uptime + .seconds(number) : nil
    }

    func kernelFailed(_ error: KernelError, at time: Timestamp) {}
  }

  @Test("A change during a reading is delivered after it")
  func notNested() throws {
    let kernel = ScriptedKernel(.wired)
    let observer = Observer { number in
      if number == 1 { kernel.change([.routeAdded]) { $0.removeDefaults(.ipv4) } }
      if number == 2 { kernel.refresh() }
    }
    try kernel.start(observer)
    #expect(observer.depth.withLock(\.readings) == 3)
    #expect(observer.depth.withLock(\.deepest) == 1)
    #expect(kernel.deadline == nil, "the last reading's deadline counts")
    // The observer retains the kernel.
    kernel.stop()
  }

  @Test("Many threads deliver one reading at a time")
  func oneAtATime() throws {
    let kernel = ScriptedKernel(.wired)
    let observer = Observer()
    try kernel.start(observer)
    onThreads(4) { thread in
      for _ in 0..<300 {
        if thread == 0 { kernel.refresh() } else { kernel.change() }
      }
    }
    #expect(observer.depth.withLock(\.deepest) == 1)
    #expect(observer.depth.withLock(\.now) == 0)
  }

  @Test("The clock stops at each deadline")
  func deadlines() throws {
    let kernel = ScriptedKernel(.wired)
    let observer = Observer()
    try kernel.start(observer)
    let begin = kernel.uptime
    kernel.advance(by: .milliseconds(999))
    #expect(observer.depth.withLock(\.readings) == 1)
    kernel.advance(by: .seconds(10))
    #expect(observer.depth.withLock(\.readings) == 3)
    #expect(kernel.uptime == begin + .milliseconds(10_999))
    kernel.stop()
    kernel.change()
    kernel.advance(by: .seconds(10))
    #expect(observer.depth.withLock(\.readings) == 3)
  }

  @Test("Lookups prefer own addresses, longest prefix, lowest metric")
  func answers() throws {
    var script = KernelScript.wired
    script.addDefault(via: "10.0.0.2", on: 2, metric: 50)
    script.routes.append(
      Route(type: .blackhole, prefix: IPPrefix(IPAddress(ipv4: 0xc000_0200), length: 25), hops: []))
    let rows: [(String, String)] = [
      ("10.0.0.5", "local"), ("127.0.0.1", "local"), ("10.0.0.6", "on link"), ("10.0.1.6", "10.0.0.2"),
      ("192.0.2.1", "blackhole"), ("192.0.2.127", "blackhole"), ("192.0.2.128", "10.0.0.2"), ("2001:db8::1", "noRoute"),
    ]
    for (text, expected) in rows {
      let answer = script.answer(RouteQuery(try #require(IPAddress(text))))
      let found =
        switch answer {
        case .refused(let refusal): "\(refusal)"
        case .route(let route) where route.type == .local: "local"
        case .route(let route): route.hops.first?.gateway?.description ?? "on link"
        }
      #expect(found == expected, "\(text)")
    }
  }

  @Test("Monitors of one script have their own settle times")
  func sharedKernel() throws {
    let kernel = ScriptedKernel(.wired)
    let monitors = [Duration.milliseconds(10), .milliseconds(20)].map { settle in
      ReachabilityMonitor(configuration: .init(settle: settle), kernel: kernel)
    }
    for monitor in monitors { try monitor.start() }
    // A monitor that is not started begins and ends a reading of its own.
    #expect(try ReachabilityMonitor(kernel: kernel).evaluate(.default).path.status == online)
    kernel.change([.routeRemoved]) { $0.removeDefaults(.ipv4) }
    #expect(monitors.map(\.snapshot.status) == [online, online])
    kernel.advance(by: .milliseconds(10))
    #expect(monitors.map(\.snapshot.status) == [.notReachable, online])
    kernel.advance(by: .milliseconds(10))
    #expect(monitors.map(\.snapshot.status) == [.notReachable, .notReachable])
    kernel.changeWithoutEvent { $0.addDefault(via: "10.0.0.1", on: 2) }
    #expect(kernel.audit() == 2)
    monitors[0].stop()
    kernel.change([.routeRemoved]) { $0.removeDefaults(.ipv4) }
    kernel.advance(by: .seconds(1))
    #expect(monitors.map(\.snapshot.status) == [.unknown, .notReachable])
    try monitors[0].start()
    kernel.fail(KernelError(operation: "read", errno: 5, message: "Input/output error"))
    #expect(monitors.map(\.snapshot.status) == [.unknown, .unknown])
    kernel.change()
    #expect(monitors.map(\.snapshot.status) == [.notReachable, .notReachable])
  }

  @Test("A multipath route loses the next hops of disabled interfaces")
  func multipath() throws {
    var script = KernelScript.withoutDefault
    script.addInterface(3, "eth1", addresses: ["10.0.3.5/24"])
    script.routes.append(Route(prefix: anyIPv4, hops: [.init(interfaceIndex: 2), .init(interfaceIndex: 3)]))
    let query = RouteQuery(IPAddress(ipv4: 1))
    func legs() -> [UInt32]? {
      guard case .route(let route) = script.answer(query) else { return nil }
      return route.hops.map(\.interfaceIndex)
    }
    #expect(legs() == [2, 3])
    script.change("eth0") { $0.flags.remove(.up) }
    #expect(legs() == [3])
    script.change("eth1") { $0.flags.remove(.up) }
    #expect(legs() == nil)
  }
}
