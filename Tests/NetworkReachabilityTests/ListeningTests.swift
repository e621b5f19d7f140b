import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("Updates of listeners")
struct ListeningTests {
  @Test("E8-1 a listener receives the initial state, then every change")
  func startThenChanges() throws {
    let bench = Bench()
    let (recorder, subscription) = try bench.record()
    #expect(recorder.updates.isEmpty, "nothing is known before the start")
    try bench.monitor.start()
    #expect(recorder.statuses == [online])
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    bench.gainDefault()
    #expect(recorder.statuses == [online, .notReachable, online])
    #expect(recorder.updates.map(\.isInitial) == [true, false, false])
    subscription.cancel()
  }

  @Test("E2-1 a listener of an unreachable machine is called once")
  func initialNotReachable() throws {
    for script in [KernelScript.withoutDefault, KernelScript()] {
      for listensFirst in [true, false] {
        let bench = Bench(script)
        if !listensFirst { try bench.monitor.start() }
        let (recorder, subscription) = try bench.record()
        if listensFirst { try bench.monitor.start() }
        bench.kernel.change()
        bench.kernel.advance(by: .seconds(10))
        #expect(recorder.statuses == [.notReachable])
        #expect(recorder.updates.first?.isInitial == true)
        subscription.cancel()
      }
    }
  }

  @Test("A-11 a listener receives a reachable initial state once")
  func initialReachable() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.all)
    bench.kernel.change()
    bench.kernel.advance(by: .seconds(10))
    #expect(recorder.statuses == [online])
    subscription.cancel()
  }

  @Test("E2-2 equal readings are not reported")
  func equalReadings() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.all, watching: [.default, .localLink])
    let before = (recorder.updates.count, bench.monitor.snapshot)
    for _ in 0..<100 {
      bench.kernel.change([.routeReplaced, .ruleChanged, .resync])
      bench.kernel.advance(by: .milliseconds(3))
    }
    #expect(recorder.updates.count == before.0)
    #expect(bench.monitor.snapshot == before.1)
    subscription.cancel()
  }

  @Test("A new name of the lower device is a change")
  func renamedBeneath() throws {
    let bench = try Bench.started()
    bench.kernel.change { script in
      script.addInterface(3, "mv0")
      script.change("mv0") { $0.lowerIndex = 2 }
    }
    let (recorder, subscription) = try bench.record(.interface)
    bench.kernel.change { script in script.change("eth0") { $0.name = "wan0" } }
    bench.kernel.change { script in script.interfaces.removeAll { $0.index == 2 } }
    subscription.cancel()
    let told = recorder.transitions.compactMap { transition -> UInt32? in
      guard case .interface(let state, _) = transition.change else { return nil }
      return state.interface.index
    }
    // The removal of the old name, the new one, and the interface above; then the removal, and the interface above.
    #expect(told == [2, 2, 3, 2, 3])
  }

  @Test("E7-2 a new MTU changes the interface, not the path")
  func mtu() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record()
    let (everything, other) = try bench.record(.all)
    bench.kernel.change { $0.change("eth0") { $0.mtu = 9000 } }
    #expect(recorder.updates.count == 1)
    #expect(everything.transitions.map(\.kind) == [.interface])
    #expect(bench.monitor.snapshot.interfaces.last?.interface.mtu == 9000)
    subscription.cancel()
    other.cancel()
  }

  @Test("E7-2 irrelevant flags change nothing")
  func meaninglessFlags() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.all)
    let before = bench.monitor.snapshot
    // IFF_PROMISC and IFF_ALLMULTI.
    bench.kernel.change { $0.change("eth0") { $0.flags.formUnion(.init(rawValue: 1 << 8 | 1 << 9)) } }
    #expect(recorder.transitions.isEmpty)
    #expect(bench.monitor.snapshot == before, "one sequence number, one snapshot")
    bench.kernel.change { $0.change("eth0") { $0.mtu = 1400 } }
    #expect(recorder.transitions.count == 1)
    let flags = try #require(bench.monitor.snapshot.interfaces.last?.interface.flags)
    #expect(flags.isSuperset(of: .init(rawValue: 1 << 8 | 1 << 9)), "they come along with what does mean something")
    subscription.cancel()
  }

  @Test("E7-1 a repeated address is no change")
  func addressesAgain() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.interface)
    bench.kernel.change()
    #expect(recorder.transitions.isEmpty)
    let address = try #require(IPAddress("10.0.0.77"))
    bench.kernel.change { $0.addAddress("10.0.0.77/24", to: 2) }
    bench.kernel.change { $0.addresses.removeAll { $0.address == address } }
    bench.kernel.change { $0.addAddress("10.0.0.77/24", to: 2) }
    #expect(recorder.transitions.map(\.causes) == [[.addressAdded], [.addressRemoved], [.addressAdded]])
    subscription.cancel()
  }

  @Test("E2-3 other flags with the same status are a path change")
  func flagsWithoutStatus() throws {
    let bench = try Bench.started()
    let (statuses, one) = try bench.record(.status)
    let (paths, other) = try bench.record(.path)
    bench.kernel.change([.routeReplaced]) { script in
      script.removeDefaults(.ipv4)
      script.routes.append(
        Route(prefix: IPPrefix(IPAddress(ipv4: 0), length: 0), hops: [.init(interfaceIndex: 2)]))
    }
    #expect(statuses.transitions.isEmpty)
    #expect(paths.transitions.count == 1)
    #expect(bench.monitor.snapshot.machine.flags == [.reachable, .isDirect])
    one.cancel()
    other.cancel()
  }

  @Test("E2-4 another interface with the same status is a path change")
  func otherInterface() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record()
    bench.kernel.change([.routeAdded]) { script in
      script.addInterface(3, "wlan0", .wifi, addresses: ["10.0.3.5/24"])
      script.addDefault(via: "10.0.3.1", on: 3, metric: 50)
    }
    #expect(recorder.transitions.map(\.kind) == [.path])
    #expect(bench.monitor.snapshot.machine.ipv4.interface?.name == "wlan0")
    #expect(recorder.statuses == [online, online])
    subscription.cancel()
  }

  @Test("Another kind of connection is another status")
  func otherKind() throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.status)
    bench.kernel.change { script in
      script.addInterface(3, "wwan0", .wwan, addresses: ["10.0.3.5/24"])
      script.addDefault(via: "10.0.3.1", on: 3, metric: 50)
    }
    #expect(recorder.statuses == [online, .reachable(.wwan)])
    subscription.cancel()
  }

  @Test("E2-11 listeners of one monitor are independent")
  func manyListeners() throws {
    let bench = try Bench.started()
    let all = try (0..<20).map { _ in try bench.record() }
    bench.gainDefault(via: "10.0.0.2")
    bench.loseDefault()
    all[7].1.cancel()
    bench.kernel.advance(by: Bench.settle)
    for (number, (recorder, _)) in all.enumerated() {
      #expect(recorder.statuses == (number == 7 ? [online] : [online, .notReachable]))
    }
    all.forEach { $0.1.cancel() }
  }

  @Test("E2-11 two monitors are independent")
  func twoMonitors() throws {
    let (one, two) = (try Bench.started(), try Bench.started(.withoutDefault))
    let (first, firstSubscription) = try one.record()
    let (second, secondSubscription) = try two.record()
    one.monitor.stop()
    two.gainDefault()
    #expect(first.statuses == [online])
    #expect(second.statuses == [.notReachable, online])
    firstSubscription.cancel()
    secondSubscription.cancel()
  }

  @Test("A listener of hosts receives no machine changes")
  func hostsOnly() throws {
    let bench = try Bench.started()
    let target = try ReachabilityTarget(host: "10.0.0.9")
    let (recorder, subscription) = try bench.record(.host, watching: [target])
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    #expect(recorder.updates.map(\.host?.target) == [target])
    subscription.cancel()
  }
}
