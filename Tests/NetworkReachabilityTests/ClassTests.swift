import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Targets that share routes share the questions about them.
@Suite("Forwarding classes")
struct ClassTests {
  /// Counts the lookups of each reading.
  final class Counter: KernelSource {
    let kernel: ScriptedKernel
    let asked = Shared<[[RouteQuery]]>([])
    init(_ script: KernelScript) { kernel = ScriptedKernel(script) }

    private final class Observer: KernelObserver {
      let inner: any KernelObserver
      let asked: Shared<[[RouteQuery]]>
      init(_ inner: any KernelObserver, _ asked: Shared<[[RouteQuery]]>) { (self.inner, self.asked) = (inner, asked) }
      func routeQueries(for survey: KernelSurvey) -> [RouteQuery] {
        let queries = inner.routeQueries(for: survey)
        asked.withLock { $0.append(queries) }
        return queries
      }
      func needsRouteBlocks(for survey: KernelSurvey) -> Bool {
        inner.needsRouteBlocks(for: survey)
      }
      func differences(in audit: KernelReading) -> Int { inner.differences(in: audit) }
      func ingest(_ reading: KernelReading) -> Duration? { inner.ingest(reading) }
      func kernelFailed(_ error: KernelError, at time: Timestamp) { inner.kernelFailed(error, at: time) }
    }

    var timeSinceProgress: Duration { .zero }
    func start(_ observer: any KernelObserver) throws(KernelError) { try kernel.start(Observer(observer, asked)) }
    func stop() { kernel.stop() }
    func refresh() { kernel.refresh() }
    func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] { try kernel.lookUp(queries) }

    /// The lookups that a closure causes, without those of the default path.
    func questions(of body: () -> Void) -> [RouteQuery] {
      asked.withLock { $0 = [] }
      body()
      let own = Set(IPAddress.Family.allCases.flatMap { StatusRules.defaultQueries($0) })
      return asked.value.flatMap(\.self).filter { !own.contains($0) }
    }
  }

  static func route(_ text: String, _ length: UInt8, on index: UInt32 = 2, type: RouteType = .unicast) throws -> Route {
    let address = try #require(IPAddress(text))
    return Route(
      type: type, prefix: IPPrefix(address, length: length), metric: 5,
      hops: type == .unicast ? [.init(interfaceIndex: index)] : [])
  }

  static func started(_ count: UInt32 = 1000) throws -> (
    Counter, ReachabilityMonitor, [ReachabilityTarget], ReachabilityMonitor.Subscription
  ) {
    let counter = Counter(.wired)
    let monitor = ReachabilityMonitor(configuration: .init(settle: .zero), kernel: { counter })
    try monitor.start()
    let targets = (0..<count).map { ReachabilityTarget(.address(IPAddress(ipv4: 0xc612_0000 + $0))) }
    let subscription = try #require(monitor.listen(to: .host, watching: targets, on: .immediate) { _ in })
    return (counter, monitor, targets, subscription)
  }

  @Test("A changed default route needs one lookup for its targets")
  func defaultRoute() throws {
    let (counter, monitor, targets, subscription) = try Self.started()
    let queries = counter.questions {
      counter.kernel.change {
        $0.removeDefaults(.ipv4)
        $0.addDefault(via: "10.0.0.2", on: 2)
      }
    }
    #expect(queries.count == 1)
    for target in targets { #expect(monitor.verdict(of: target)?.path.gateway == IPAddress("10.0.0.2")) }
    subscription.cancel()
  }

  @Test("A new route needs lookups for its targets only")
  func someAndNone() throws {
    let (counter, monitor, targets, subscription) = try Self.started()
    let route = try Self.route("198.18.0.0", 25, type: .blackhole)
    let queries = counter.questions { counter.kernel.change { $0.routes.append(route) } }
    #expect(queries.count <= 2, "the new class, and the old one whose stand-in is in it")
    for (position, target) in targets.enumerated() {
      #expect(monitor.verdict(of: target)?.path.reason == (position < 128 ? .blackhole : nil))
    }
    let elsewhere = try Self.route("203.0.113.0", 24)
    #expect(counter.questions { counter.kernel.change { $0.routes.append(elsewhere) } }.isEmpty)
    #expect(counter.questions { counter.kernel.change { $0.routes.removeAll { $0 == route } } }.count == 1)
    for target in targets { #expect(monitor.verdict(of: target)?.path.status == online) }
    subscription.cancel()
  }

  @Test("Targets with a longer match in the table are skipped")
  func longerMatch() throws {
    let (counter, monitor, targets, subscription) = try Self.started()
    counter.kernel.change { script in
      for block in UInt32(0)..<4 {
        script.routes.append(
          Route(
            prefix: IPPrefix(IPAddress(ipv4: 0xc612_0000 + block << 8), length: 24), hops: [.init(interfaceIndex: 2)]))
      }
    }
    #expect(counter.questions { counter.kernel.change { $0.removeDefaults(.ipv4) } }.isEmpty)
    #expect(monitor.verdict(of: targets[0])?.path.status == online)
    subscription.cancel()
  }

  @Test("Multipath routes need a lookup for every target")
  func multipath() throws {
    let (counter, monitor, targets, subscription) = try Self.started(50)
    var route = Route(prefix: anyIPv4, metric: 1, hops: [.init(interfaceIndex: 2), .init(interfaceIndex: 1)])
    route.selectsByDestination = true
    let multipath = route
    let queries = counter.questions {
      counter.kernel.change { $0.routes.append(multipath) }; counter.kernel.advance(by: .zero)
    }
    #expect(Set(queries).count == 50)
    #expect(targets.allSatisfy { monitor.verdict(of: $0)?.path.gateway == nil })
    counter.kernel.change { $0.routes.removeAll { $0 == multipath } }
    #expect(targets.allSatisfy { monitor.verdict(of: $0)?.path.gateway != nil })
    #expect(counter.questions { counter.kernel.change { $0.removeDefaults(.ipv4) } }.count == 1)
    subscription.cancel()
  }

  @Test("Members that are looked up later keep the cause")
  func causeOfMembers() throws {
    let (counter, monitor, targets, subscription) = try Self.started(5)
    let recorder = UpdateRecorder()
    let recording = monitor.listen(to: .host, watching: targets, on: .immediate) { recorder.record($0) }
    var told = recorder.transitions.count
    var route = Route(prefix: anyIPv4, metric: 1, hops: [.init(interfaceIndex: 2), .init(interfaceIndex: 1)])
    route.selectsByDestination = true
    let multipath = route
    counter.kernel.change([.routeAdded]) { $0.routes.append(multipath) }
    counter.kernel.advance(by: .zero)
    #expect(recorder.transitions.dropFirst(told).map(\.causes) == [[Cause]](repeating: [.routeAdded], count: 5))
    told = recorder.transitions.count
    counter.kernel.change([.ruleChanged]) { $0.removeDefaults(.ipv4) }
    #expect(recorder.transitions.dropFirst(told).map(\.causes) == [[Cause]](repeating: [.ruleChanged], count: 5))
    recording?.cancel()
    subscription.cancel()
  }

  @Test("IPv6 members behind a refused representative are looked up separately")
  func refusedRepresentative() throws {
    var script = KernelScript.wired
    script.addInterface(3, "eth1", addresses: ["fd08::2/64"])
    script.addAddress("fd09::2/64", to: 2)
    let targets = (1...4).map { ReachabilityTarget(.address(IPAddress(ipv6: 0x2001_0db8 << 32, $0))) }
    // As with a default route from fd08::/64 only, which the source address for one of them matches.
    guard case .address(let lucky) = targets[2].remote else { return }
    script.overrides[RouteQuery(lucky)] = .route(
      Route(
        prefix: IPPrefix(IPAddress(ipv6: 0, 0), length: 0), hops: [.init(interfaceIndex: 3)],
        source: IPAddress("fd08::2")))
    let bench = try Bench.started(script, settle: .zero)
    let (_, subscription) = try bench.record(.host, watching: targets)
    bench.kernel.advance(by: .zero)
    #expect(
      targets.map { bench.monitor.verdict(of: $0)?.path.status.isReachable } == [false, false, true, false])
    subscription.cancel()
  }

  /// As ``started(_:)``, with a recorder of all updates.
  private static func recorded() throws -> (
    ScriptedKernel, ReachabilityMonitor, [ReachabilityTarget], UpdateRecorder, [ReachabilityMonitor.Subscription]
  ) {
    let (counter, monitor, targets, subscription) = try started(2)
    let recorder = UpdateRecorder()
    let recording = try #require(
      monitor.listen(to: .host, watching: targets, on: .immediate) { recorder.record($0) })
    return (counter.kernel, monitor, targets, recorder, [subscription, recording])
  }

  /// The old and the new router of each target's transition.
  private static func routers(_ recorder: UpdateRecorder) -> [[String?]] {
    recorder.updates.compactMap { update in
      guard case .host(let from?, let to)? = update.transition?.change else { return nil }
      return [to.target.host, from.path.gateway?.description, to.path.gateway?.description]
    }
  }

  @Test("A removed member keeps the path that was last reported")
  func leaving() throws {
    let (kernel, monitor, targets, recorder, subscriptions) = try Self.recorded()
    for router in ["10.0.0.2", "10.0.0.3"] {
      kernel.change {
        $0.removeDefaults(.ipv4)
        $0.addDefault(via: router, on: 2)
      }
    }
    // Through the previous router, which is a change for the moved target.
    let back = Route(
      prefix: IPPrefix(IPAddress(ipv4: 0xc612_0000), length: 32),
      hops: [.init(interfaceIndex: 2, gateway: IPAddress("10.0.0.2"))])
    kernel.change { $0.routes.append(back) }
    kernel.change { $0.routes.removeAll { $0 == back } }
    #expect(
      Self.routers(recorder) == [
        ["198.18.0.0", "10.0.0.1", "10.0.0.2"], ["198.18.0.1", "10.0.0.1", "10.0.0.2"],
        ["198.18.0.0", "10.0.0.2", "10.0.0.3"], ["198.18.0.1", "10.0.0.2", "10.0.0.3"],
        ["198.18.0.0", "10.0.0.3", "10.0.0.2"], ["198.18.0.0", "10.0.0.2", "10.0.0.3"],
      ])
    for target in targets { #expect(monitor.verdict(of: target)?.path.gateway == IPAddress("10.0.0.3")) }
    subscriptions.forEach { $0.cancel() }
  }

  @Test("All members report a failure after a class change")
  func failing() throws {
    let (kernel, monitor, targets, recorder, subscriptions) = try Self.recorded()
    kernel.change {
      $0.removeDefaults(.ipv4)
      $0.addDefault(via: "10.0.0.2", on: 2)
    }
    kernel.fail(KernelError(operation: "recv", errno: 5, message: ""))
    #expect(
      Self.routers(recorder) == [
        ["198.18.0.0", "10.0.0.1", "10.0.0.2"], ["198.18.0.1", "10.0.0.1", "10.0.0.2"],
        ["198.18.0.0", "10.0.0.2", nil], ["198.18.0.1", "10.0.0.2", nil],
      ])
    #expect(targets.allSatisfy { monitor.verdict(of: $0)?.path.status == .unknown })
    subscriptions.forEach { $0.cancel() }
  }

  @Test("An observer receives all targets that a change touches")
  func judgements() throws {
    final class Sink: ReevaluationObserver {
      let heard = Shared<[[ReachabilityTarget]]>([])
      func didReevaluate(_ reevaluation: Reevaluation) { heard.withLock { $0.append(reevaluation.targets) } }
    }
    let (counter, monitor, targets, subscription) = try Self.started(300)
    let sink = Sink()
    monitor.attach(sink)
    let route = try Self.route("198.18.0.0", 24)
    counter.kernel.change { $0.routes.append(route) }
    #expect(
      sink.heard.value.map { Set($0) }.contains(Set(targets[..<256]))
        || Set(sink.heard.value.flatMap(\.self)) == Set(targets))
    sink.heard.withLock { $0 = [] }
    counter.kernel.change { script in
      guard let index = script.routes.firstIndex(of: route) else { return }
      script.routes[index].protocol = 4
    }
    #expect(sink.heard.value.map { Set($0) } == [Set(targets[..<256])], "touched, though nothing that is shown changed")
    sink.heard.withLock { $0 = [] }
    let elsewhere = try Self.route("203.0.113.0", 24)
    counter.kernel.change { $0.routes.append(elsewhere) }
    #expect(sink.heard.value.isEmpty)
    subscription.cancel()
  }

  @Test("Blocks that were missed are known to the next target")
  func blocksLostMeanwhile() throws {
    let bench = try Bench.started(settle: .zero)
    bench.kernel.change { try? $0.routes.append(Self.route("198.18.0.0", 16)) }
    let (_, local) = try bench.record(.host, watching: [.localLink])
    let (_, first) = try bench.record(.host, watching: [ReachabilityTarget(host: "198.18.0.1")])
    first.cancel()
    bench.kernel.change { $0.change("eth0") { $0.mtu = 9000 } }
    bench.kernel.changeWithoutEvent { try? $0.routes.append(Self.route("198.18.0.128", 25, type: .blackhole)) }
    bench.kernel.change([.resync])
    let targets = try ["198.18.0.1", "198.18.0.129"].map { try ReachabilityTarget(host: $0) }
    let (_, second) = try bench.record(.host, watching: targets)
    #expect(targets.map { bench.monitor.verdict(of: $0)?.path.reason } == [nil, .blackhole])
    for subscription in [local, second] { subscription.cancel() }
  }

  @Test("An audit finds and corrects changes without events")
  func audit() throws {
    let bench = try Bench.started(settle: .zero)
    let targets = try [ReachabilityTarget(host: "192.0.2.1"), ReachabilityTarget(host: "10.0.0.9", source: "10.0.0.5")]
    let (_, subscription) = try bench.record(.host, watching: targets)
    #expect(bench.kernel.audit() == 0)
    bench.kernel.changeWithoutEvent { $0.removeDefaults(.ipv4) }
    #expect(bench.kernel.audit() == 2, "the default path and one target")
    #expect(bench.monitor.snapshot.status == .notReachable)
    #expect(bench.monitor.verdict(of: targets[0])?.path.reason == .noRoute)
    #expect(bench.kernel.audit() == 0)
    let hidden = try Self.route("192.0.2.1", 32, type: .blackhole)
    bench.kernel.changeWithoutEvent { $0.routes.append(hidden) }
    #expect(bench.kernel.audit() == 2, "a block that was not known, and the verdict behind it")
    bench.kernel.changeWithoutEvent { $0.change("eth0") { $0.mtu = 9000 } }
    #expect(bench.kernel.audit() == 1)
    bench.kernel.changeWithoutEvent { $0.addresses.removeAll { $0.interfaceIndex == 2 } }
    #expect(bench.kernel.audit() >= 2)
    #expect(bench.kernel.audit() == 0)
    subscription.cancel()
  }
}
