import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("Causes of changes")
struct CauseTests {
  @Test("A delayed verdict has the causes of its settle time")
  func carried() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.status)
    bench.loseDefault([.routeRemoved])
    bench.kernel.advance(by: .milliseconds(5))
    bench.kernel.change([.ruleChanged])
    bench.kernel.advance(by: .milliseconds(5))
    #expect(recorder.transitions.map(\.causes) == [[.routeRemoved, .ruleChanged]])
    bench.gainDefault()
    #expect(recorder.transitions.last?.causes == [.routeAdded], "and they are not named twice")
    subscription.cancel()
  }

  @Test("Causes before the settle time are not reported")
  func notBefore() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.status)
    bench.kernel.change([.nexthopChanged])
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    #expect(recorder.transitions.map(\.causes) == [[.routeRemoved]])
    subscription.cancel()
  }

  @Test("A failure ends the settle time and its causes")
  func forgottenOnFailure() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.status)
    bench.loseDefault([.routeRemoved])
    bench.kernel.fail(KernelError(operation: "recv", errno: 105, message: "no buffer space"))
    bench.gainDefault(via: "10.0.0.1", [.resync])
    #expect(recorder.transitions.map(\.causes) == [[], [.resync]])
    subscription.cancel()
  }

  @Test("The tables distinguish link and carrier changes")
  func links() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.interface)
    func causes(_ body: (inout Interface) -> Void) -> [Cause]? {
      bench.kernel.change { $0.change("eth0", body) }
      return recorder.transitions.last?.causes
    }
    #expect(causes { $0.operationalState = .down } == [.carrierLost])
    #expect(causes { $0.operationalState = .up } == [.carrierGained])
    #expect(causes { $0.flags.remove(.up) } == [.linkDown])
    #expect(causes { $0.flags.insert(.up) } == [.linkUp])
    #expect(causes { $0.operationalState = .dormant } == [.carrierLost])
    #expect(causes { $0.name = "lan0" } == [.renamed])
    subscription.cancel()
  }

  @Test("Removed interfaces are reported before added ones")
  func comeAndGo() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.interface)
    bench.kernel.change { script in
      script.interfaces.removeAll { $0.name == "eth0" }
      script.addresses.removeAll { $0.interfaceIndex == 2 }
      script.addInterface(9, "eth0", addresses: ["10.0.0.6/24"])
    }
    let told = recorder.transitions.compactMap { transition -> String? in
      guard case .interface(let state, let removed) = transition.change else { return nil }
      return "\(removed ? "-" : "+")\(state.interface.index) \(transition.causes.map(\.rawValue))"
    }
    #expect(told == ["-2 [\"linkDown\"]", "+9 [\"linkUp\"]"])
    subscription.cancel()
  }

  @Test("Route and rule events are not causes of interface changes")
  func interfaceCauses() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.interface)
    bench.kernel.change([.routeAdded, .ruleChanged, .resync, .resume]) { $0.change("eth0") { $0.mtu = 1400 } }
    #expect(recorder.transitions.map(\.causes) == [[.resync, .resume]])
    subscription.cancel()
  }

  @Test("The first verdict has no causes")
  func initial() throws {
    let bench = Bench()
    let sink = RecordingSink()
    bench.monitor.attach(sink)
    try bench.monitor.start()
    #expect(sink.transitions.map(\.causes) == [[]])
  }

  @Test("An expiring default route is evaluated at its end")
  func expiry() throws {
    var script = KernelScript.wired
    for index in script.routes.indices where script.routes[index].prefix.length == 0 {
      script.routes[index].expiresIn = .seconds(30)
    }
    let bench = try Bench.started(script)
    let (recorder, subscription) = try bench.record(.status)
    for left in [25, 20, 15, 10, 5] {
      bench.kernel.changeWithoutEvent { script in
        for index in script.routes.indices where script.routes[index].expiresIn != nil {
          script.routes[index].expiresIn = .seconds(left)
        }
      }
      bench.kernel.advance(by: .seconds(5))
    }
    let deadline = try #require(bench.kernel.deadline)
    #expect(deadline > bench.kernel.uptime && deadline < bench.kernel.uptime + .milliseconds(5_100))
    // The kernel drops the route without an event.
    bench.kernel.changeWithoutEvent { $0.removeDefaults(.ipv4) }
    bench.kernel.advance(by: .seconds(6))
    #expect(recorder.transitions.map(\.causes) == [[.routeExpired]])
    #expect(bench.monitor.snapshot.status == .notReachable)
    // For a while, because it may be renewed without an event.
    bench.kernel.advance(by: .seconds(80))
    #expect(bench.kernel.deadline == nil)
    subscription.cancel()
  }

  @Test("A renewed route without an event is found")
  func revived() throws {
    var script = KernelScript.wired
    for index in script.routes.indices { script.routes[index].expiresIn = .seconds(5) }
    let revived = script.routes
    let bench = try Bench.started(script, settle: .zero)
    let (recorder, subscription) = try bench.record(
      [.status, .host], watching: [ReachabilityTarget(host: "192.0.2.1")])
    bench.kernel.changeWithoutEvent { $0.removeDefaults(.ipv4) }
    bench.kernel.advance(by: .seconds(6))
    #expect(bench.monitor.snapshot.status == .notReachable)
    bench.kernel.advance(by: .seconds(20))
    let heard = recorder.transitions.count
    bench.kernel.changeWithoutEvent { $0.routes = revived }
    bench.kernel.advance(by: .seconds(5))
    #expect(recorder.transitions.dropFirst(heard).map(\.kind) == [.status, .host])
    #expect(recorder.transitions.dropFirst(heard).allSatisfy { $0.causes == [.routeAdded] })
    #expect(bench.monitor.snapshot.status == online)
    subscription.cancel()
  }

  @Test("A shortened lifetime without an event is found")
  func shortened() throws {
    var script = KernelScript.wired
    for index in script.routes.indices { script.routes[index].expiresIn = .seconds(600) }
    let bench = try Bench.started(script, settle: .zero)
    let (recorder, subscription) = try bench.record(
      [.status, .host], watching: [ReachabilityTarget(host: "192.0.2.1")])
    bench.kernel.advance(by: .seconds(60))
    let heard = recorder.transitions.count
    bench.kernel.changeWithoutEvent { script in
      for index in script.routes.indices { script.routes[index].expiresIn = .seconds(5) }
    }
    // Advertised now with five seconds of lifetime, and read by then.
    bench.kernel.advance(by: .milliseconds(4_999))
    bench.kernel.changeWithoutEvent { $0.removeDefaults(.ipv4) }
    #expect(recorder.transitions.count == heard)
    bench.kernel.advance(by: .milliseconds(5_100))
    #expect(recorder.transitions.dropFirst(heard).map(\.kind) == [.status, .host])
    #expect(recorder.transitions.dropFirst(heard).allSatisfy { $0.causes == [.routeExpired] })
    #expect(bench.monitor.snapshot.status == .notReachable)
    subscription.cancel()
  }

  @Test("An expired route affects all targets behind it")
  func expiryWithoutStandIn() throws {
    let bench = try Bench.started(.withoutDefault, settle: .zero)
    var route = try ClassTests.route("198.18.0.0", 16)
    route.expiresIn = .seconds(3)
    let added = route
    bench.kernel.change([.routeAdded]) { $0.routes.append(added) }
    let (_, first) = try bench.record(.host, watching: [ReachabilityTarget(host: "198.18.0.1")])
    let (recorder, second) = try bench.record(.host, watching: [ReachabilityTarget(host: "198.18.0.2")])
    first.cancel()
    bench.kernel.refresh()
    #expect(recorder.hosts.map(\.path.status) == [online])
    bench.kernel.changeWithoutEvent { $0.routes.removeAll { $0 == added } }
    bench.kernel.advance(by: .milliseconds(3_010))
    #expect(recorder.hosts.map(\.path.reason) == [nil, .noRoute])
    #expect(recorder.transitions.last?.causes == [.routeExpired])
    second.cancel()
  }

  @Test("A route that is refreshed in time never expires")
  func refreshed() throws {
    var script = KernelScript.wired
    for index in script.routes.indices { script.routes[index].expiresIn = .seconds(30) }
    let bench = try Bench.started(script)
    let (recorder, subscription) = try bench.record(.all)
    for _ in 0..<20 {
      bench.kernel.advance(by: .seconds(20))
      bench.kernel.change([.routeReplaced])
    }
    #expect(recorder.transitions.isEmpty)
    subscription.cancel()
  }
}
