import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityCompatibility
import TestSupport
import Testing

/// The façades on a real kernel: started before there is a network, plugged in and unplugged.
@Suite(.enabled(if: Namespace.isSupported)) struct NamespaceTests {
  private let pair: VethPair
  private let shared = CompatibilityMonitor(ReachabilityMonitor())

  init() throws { pair = try VethPair() }

  private func unplug() throws { try pair.client.ip(batch: ["route del default", "route del ::/0"]) }

  @Test("A-05, E2-1, E2-6 an Alamofire manager started before the network hears it come and go")
  func alamofire() throws {
    let manager = NetworkReachabilityManager(.default, on: shared)
    let queue = DispatchQueue(label: "listener")
    let log = Log<NetworkReachabilityManager.NetworkReachabilityStatus>()
    #expect(pair.client.run { manager.status } == .notReachable)
    #expect(pair.client.run { manager.startListening(onQueue: queue) { log.add($0) } })
    manager.drain(queue)
    #expect(log.values == [.notReachable])
    try pair.addDefaultRoutes()
    #expect(eventually { log.values.last == .reachable(.ethernetOrWiFi) })
    #expect(manager.isReachable)
    try pair.router.ip("link set r0 down")
    #expect(eventually { log.values.last == .notReachable })
    try pair.router.ip("link set r0 up")
    #expect(eventually { log.values.last == .reachable(.ethernetOrWiFi) })
    #expect(log.values.count == 4)
    manager.stopListening()
    try unplug()
    #expect(pair.client.run { manager.status } == .notReachable)
    manager.drain(queue)
    #expect(log.values.count == 4)
  }

  @Test("A-03 localhost is reachable where lo is up, and with nothing else")
  func localhost() throws {
    let manager = NetworkReachabilityManager(.localhost, on: shared)
    let alone = try Namespace()
    #expect(alone.run { manager.status } == .reachable(.ethernetOrWiFi))
    #expect(alone.run { NetworkReachabilityManager(.default, on: shared).status } == .notReachable)
  }

  @Test("D-01 with a default route, a name's flags are not empty")
  func unscheduled() throws {
    try pair.addDefaultRoutes()
    let target = ReachabilityTarget(.name("nowhere.invalid"))
    let manager = NetworkReachabilityManager(target, on: shared)
    #expect(pair.client.run { manager.flags }?.contains(.reachable) == true)
    let alone = try Namespace()
    let other = NetworkReachabilityManager(target, on: CompatibilityMonitor(ReachabilityMonitor()))
    #expect(alone.run { other.flags } == [])
  }

  @Test("A-06 a manager restarts on a real kernel, and its second listener is called")
  func restart() throws {
    try pair.addDefaultRoutes()
    let manager = NetworkReachabilityManager(.default, on: shared)
    let queue = DispatchQueue(label: "listener")
    for _ in 0..<3 {
      let log = Log<NetworkReachabilityManager.NetworkReachabilityStatus>()
      #expect(pair.client.run { manager.startListening(onQueue: queue) { log.add($0) } })
      manager.drain(queue)
      #expect(log.values == [.reachable(.ethernetOrWiFi)])
      manager.stopListening()
    }
  }

  @Test("B-05 an AFNetworking manager started before the network hears it come and go")
  func networking() throws {
    let manager = AFNetworkReachabilityManager(.default, on: shared, context: .queue(DispatchQueue(label: "listener")))
    pair.client.run { manager.startMonitoring() }
    #expect(eventually { manager.networkReachabilityStatus == .notReachable })
    try pair.addDefaultRoutes()
    #expect(eventually { manager.networkReachabilityStatus == .reachableViaWiFi })
    try unplug()
    #expect(eventually { manager.networkReachabilityStatus == .notReachable })
    manager.stopMonitoring()
  }

  @Test("C-01 a Reachability of a neighbour and one of the world hear what concerns them")
  func reachability() throws {
    let neighbour = Reachability(
      try ReachabilityTarget(host: "10.9.0.1"), on: shared, context: .queue(DispatchQueue(label: "neighbour")))
    let world = Reachability(.default, on: shared, context: .queue(DispatchQueue(label: "world")))
    let (near, far) = (Log<String>(), Log<String>())
    for (reachability, log) in [(neighbour, near), (world, far)] {
      reachability.whenReachable = { log.add($0.description) }
      reachability.whenUnreachable = { _ in log.add("none") }
      try pair.client.run { try reachability.startNotifier() }
    }
    #expect(eventually { near.values == ["-R ------d"] && far.values == ["none"] })
    try pair.addDefaultRoutes()
    #expect(eventually { far.values == ["none", "-R -------"] })
    try pair.client.ip("link set c0 down")
    #expect(eventually { near.values.last == "none" && far.values.last == "none" })
    #expect(near.values.count == 2)
    neighbour.stopNotifier()
    world.stopNotifier()
  }
}
