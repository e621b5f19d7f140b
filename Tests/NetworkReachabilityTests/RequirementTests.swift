import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("Required and prohibited types of interface")
struct RequirementTests {
  private func monitor(_ kernel: ScriptedKernel, _ requirement: InterfaceRequirement) -> ReachabilityMonitor {
    ReachabilityMonitor(
      configuration: .init(settle: .zero, nameServers: ["127.0.0.1:1"], interfaceRequirement: requirement),
      kernel: kernel)
  }

  @Test("E8-3 only an interface of the required type counts")
  func required() throws {
    let kernel = ScriptedKernel(.wired)
    let monitor = monitor(kernel, InterfaceRequirement(required: .wifi))
    let recorder = UpdateRecorder()
    let target = try ReachabilityTarget(host: "203.0.113.9")
    let subscription = monitor.listen(watching: [target], on: .immediate) { recorder.record($0) }
    try monitor.start()
    #expect(monitor.snapshot.status == .notReachable && monitor.snapshot.machine.reason == .noRoute)
    #expect(try monitor.evaluate(.default).path.status == .notReachable)
    kernel.change([.routeAdded]) { script in
      script.addInterface(3, "wlan0", .wifi, addresses: ["10.1.0.5/24"])
      script.addDefault(via: "10.1.0.1", on: 3, metric: 600)
    }
    // The wire is still the kernel's own choice.
    #expect(monitor.snapshot.machine.ipv4.interface?.name == "wlan0" && monitor.snapshot.status == online)
    #expect(monitor.verdict(of: target)?.path.gateway?.description == "10.1.0.1")
    #expect(try monitor.evaluate(target).path.interface?.name == "wlan0")
    kernel.change { $0.change("wlan0") { $0.flags.remove(.up) } }
    #expect(monitor.snapshot.status == .notReachable)
    #expect(recorder.statuses.suffix(1) == [.notReachable])
    withExtendedLifetime(subscription) {}
  }

  @Test("E8-3 a prohibited type does not count")
  func prohibited() throws {
    let kernel = ScriptedKernel(.wired)
    let monitor = monitor(kernel, InterfaceRequirement(prohibited: [.wwan]))
    try monitor.start()
    #expect(monitor.snapshot.status == online)
    kernel.change { script in
      script.addInterface(4, "wwan0", .wwan, addresses: ["10.2.0.5/24"])
      script.addDefault(via: "10.2.0.1", on: 4, metric: 1)
    }
    #expect(monitor.snapshot.machine.ipv4.interface?.name == "eth0" && monitor.snapshot.status == online)
    kernel.change { $0.change("eth0") { $0.flags.remove(.up) } }
    #expect(monitor.snapshot.status == .notReachable)
  }

  @Test("A route through a modem is expensive, tunnels too")
  func expensive() throws {
    var script = KernelScript()
    script.addLoopback()
    script.addInterface(4, "wwan0", .wwan, addresses: ["10.2.0.5/24"])
    script.addDefault(via: "10.2.0.1", on: 4, metric: 50)
    let kernel = ScriptedKernel(script)
    let monitor = monitor(kernel, .none)
    let recorder = UpdateRecorder()
    let subscription = monitor.listen(to: .all, on: .immediate) { recorder.record($0) }
    try monitor.start()
    #expect(monitor.snapshot.status == .reachable(.wwan) && monitor.snapshot.machine.isExpensive)
    kernel.change { script in
      script.addInterface(9, "tun0", .tunnel, addresses: ["10.8.0.5/24"])
      for half in ["0.0.0.0", "128.0.0.0"] {
        guard let address = IPAddress(half) else { continue }
        script.routes.append(Route(prefix: IPPrefix(address, length: 1), hops: [.init(interfaceIndex: 9)]))
      }
    }
    #expect(monitor.snapshot.machine.ipv4.interface?.name == "tun0")
    #expect(monitor.snapshot.status == .reachable(.wwan) && monitor.snapshot.machine.isExpensive)
    #expect(monitor.snapshot.machine.flags.isSuperset(of: [.transientConnection, .isWWAN]))
    let before = recorder.updates.count
    kernel.change { script in
      script.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
      script.addDefault(via: "10.0.0.1", on: 2, metric: 10)
    }
    #expect(monitor.snapshot.machine.ipv4.interface?.name == "tun0", "still through the tunnel")
    #expect(monitor.snapshot.status == online && !monitor.snapshot.machine.isExpensive, "which lies on the wire now")
    let changed = recorder.transitions.suffix(recorder.updates.count - before).compactMap { transition -> String? in
      guard case .interface(let state, _) = transition.change else { return nil }
      return state.interface.name
    }
    #expect(changed == ["eth0", "tun0"])
    withExtendedLifetime(subscription) {}
  }
}
