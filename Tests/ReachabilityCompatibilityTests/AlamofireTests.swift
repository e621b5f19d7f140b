import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityCompatibility
import TestSupport
import Testing

/// What Alamofire's own tests demand, on a scripted network.
struct AlamofireTests {
  private typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

  @Test("A-01 a manager can be made for a host")
  func makeForHost() { #expect(NetworkReachabilityManager(host: "localhost") != nil) }

  @Test("A-02 a manager can be made for the default path")
  func makeForDefault() {
    #expect(NetworkReachabilityManager() != nil)
    #expect(NetworkReachabilityManager.default === NetworkReachabilityManager.default)
  }

  @Test("E3-1 an empty host makes no manager, an address does")
  func emptyHost() {
    #expect(NetworkReachabilityManager(host: "") == nil)
    #expect(NetworkReachabilityManager(host: "192.0.2.1") != nil)
    #expect(NetworkReachabilityManager(host: "fe80::1%eth0") != nil)
  }

  @Test(
    "E3-2 a text that is not a host makes a manager that is not reachable",
    arguments: ["http://www.google.com", "www.example.com/", "www.example.com:443", "a b", "1.2.3"])
  func noHost(_ text: String) async throws {
    _ = try #require(NetworkReachabilityManager(host: text))
    // The same target on a network with a default path, by which names are evaluated.
    let manager = Scripted().manager(try #require(ReachabilityTarget(anyHost: text)))
    #expect(manager.status == .notReachable)
    let log = Log<Status>()
    #expect(manager.startListening(onQueue: DispatchQueue(label: "listener")) { log.add($0) })
    await becomes { !log.values.isEmpty }
    #expect(log.values == [.notReachable])
  }

  @Test("Reads start the monitor once, and the release of the last manager stops it")
  func reads() {
    let network = Scripted()
    var managers = [network.manager(), network.manager(ReachabilityTarget(.name("www.example.com")))]
    for _ in 0..<3 { #expect(managers.allSatisfy { $0.isReachable }) }
    #expect(network.monitor.snapshot.status == .reachable(.ethernetOrWiFi), "started")
    managers.removeFirst()
    #expect(network.monitor.snapshot.status == .reachable(.ethernetOrWiFi))
    managers.removeAll()
    #expect(network.monitor.snapshot.status == .unknown, "stopped")
  }

  @Test("A-03 a host's manager has a status without listening")
  func hostStatus() {
    let manager = Scripted().manager(.localhost)
    #expect(manager.status == .reachable(.ethernetOrWiFi))
    #expect(manager.isReachable && !manager.isReachableOnCellular && manager.isReachableOnEthernetOrWiFi)
    #expect(!manager.isReachableOnWWAN && manager.networkReachabilityStatus == manager.status)
  }

  @Test("A-03 localhost needs no way out")
  func localhostOffline() {
    #expect(Scripted(online: false).manager(.localhost).flags == [.reachable, .isLocalAddress])
  }

  @Test("A-04 a host's manager starts with a reachable status, judged by the default path")
  func otherHostStatus() {
    #expect(Scripted().manager(ReachabilityTarget(.name("www.example.com"))).status == .reachable(.ethernetOrWiFi))
    #expect(Scripted(online: false).manager(ReachabilityTarget(.name("www.example.com"))).status == .notReachable)
  }

  @Test("A-05 the default path's manager starts with a reachable status, evaluated at each read")
  func defaultStatus() {
    let network = Scripted()
    let manager = network.manager()
    #expect(manager.status == .reachable(.ethernetOrWiFi))
    #expect(manager.isReachable && !manager.isReachableOnCellular && manager.isReachableOnEthernetOrWiFi)
    network.roam()
    #expect(manager.status == .reachable(.cellular))
    #expect(manager.isReachable && manager.isReachableOnCellular && !manager.isReachableOnEthernetOrWiFi)
    network.unplug()
    #expect(manager.status == .notReachable && !manager.isReachable)
  }

  @Test("E1-3 the status is unknown when the kernel cannot be asked, and listening fails")
  func unknown() {
    let network = Scripted()
    network.kernel.refuseStart(KernelError(operation: "socket", errno: 13, message: "Permission denied"))
    let manager = network.manager()
    #expect(manager.flags == nil && manager.status == .unknown && !manager.isReachable)
    #expect(!manager.startListening(onQueue: .global()) { _ in })
    network.kernel.refuseStart(nil)
    #expect(manager.startListening(onQueue: .global()) { _ in })
    #expect(manager.status == .reachable(.ethernetOrWiFi))
  }

  @Test(
    "A-06, A-07 a manager can be restarted, and the second listener is called though nothing changed",
    arguments: [ReachabilityTarget.default, .localhost])
  func restart(_ target: ReachabilityTarget) async {
    let manager = Scripted().manager(target)
    let queue = DispatchQueue(label: "listener")
    let (first, second) = (Log<Status>(), Log<Status>())
    #expect(manager.startListening(onQueue: queue) { first.add($0) })
    await becomes { first.values.last == .reachable(.ethernetOrWiFi) }
    manager.stopListening()
    #expect(manager.startListening(onQueue: queue) { second.add($0) })
    await becomes { second.values.last == .reachable(.ethernetOrWiFi) }
    #expect(first.values == [.reachable(.ethernetOrWiFi)])
    #expect(second.values == [.reachable(.ethernetOrWiFi)])
    #expect(manager.status == .reachable(.ethernetOrWiFi))
  }

  @Test(
    "A-08, A-09 neither a listener nor the queue keeps a manager alive",
    arguments: [ReachabilityTarget.default, .localhost])
  func lifetime(_ target: ReachabilityTarget) {
    let queue = DispatchQueue(label: "listener")
    var manager: NetworkReachabilityManager? = Scripted().manager(target)
    weak let reference = manager
    manager?.startListening(onQueue: queue) { _ in }
    manager?.stopListening()
    manager?.drain(queue)
    manager = nil
    #expect(reference == nil)
  }

  @Test("A-10 a host's listener is told at once that it is reachable")
  func hostInitial() async {
    let manager = Scripted().manager(ReachabilityTarget(.name("localhost")))
    let log = Log<Status>()
    manager.startListening { log.add($0) }
    await becomes { !log.values.isEmpty }
    #expect(log.values.first == .reachable(.ethernetOrWiFi))
    manager.stopListening()
  }

  @Test("A-11 the default path's listener is called exactly once")
  func defaultInitial() {
    let network = Scripted()
    let manager = network.manager()
    let queue = DispatchQueue(label: "listener")
    let log = Log<Status>()
    manager.startListening(onQueue: queue) { log.add($0) }
    network.kernel.change()
    manager.drain(queue)
    #expect(log.values == [.reachable(.ethernetOrWiFi)])
  }

  @Test("A-11 an address's listener is called exactly once")
  func addressInitial() {
    let network = Scripted()
    let manager = network.manager(ReachabilityTarget(.address(IPAddress(ipv4: 0xc000_0201))))
    let queue = DispatchQueue(label: "listener")
    let log = Log<Status>()
    manager.startListening(onQueue: queue) { log.add($0) }
    #expect(manager.isReachable)
    network.kernel.change()
    manager.drain(queue)
    network.unplug()
    manager.drain(queue)
    #expect(log.values == [.reachable(.ethernetOrWiFi), .notReachable])
  }
}
