import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityCompatibility
import TestSupport
import Testing

/// When, where and in which order a listener is called.
struct AlamofireListenerTests {
  private typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus
  private let ethernet = Status.reachable(.ethernetOrWiFi)
  private let queue = DispatchQueue(label: "listener")
  private let log = Log<Status>()

  @Test("E2-1 a listener that starts offline is called once, with not reachable")
  func offline() {
    let manager = Scripted(online: false).manager()
    manager.startListening(onQueue: queue) { [log] in log.add($0) }
    manager.drain(queue)
    #expect(log.values == [.notReachable])
  }

  @Test("E2-2 a kernel event without a change calls no listener")
  func sameFlags() {
    let network = Scripted()
    let manager = network.manager()
    manager.startListening(onQueue: queue) { [log] in log.add($0) }
    network.kernel.change([.routeAdded])
    network.kernel.change { $0.change("eth0") { $0.mtu = 1400 } }
    manager.drain(queue)
    #expect(log.values == [ethernet])
  }

  @Test("E2-3 other flags of the same status call no listener of the status, but one of the flags")
  func otherFlags() {
    let network = Scripted()
    let manager = network.manager()
    let reachability = Reachability(.default, on: network.shared, context: .immediate)
    let flags = Log<String>()
    reachability.whenReachable = { flags.add($0.description) }
    manager.startListening(onQueue: queue) { [log] in log.add($0) }
    #expect(throws: Never.self) { try reachability.startNotifier() }
    network.plugDirectly()
    manager.drain(queue)
    #expect(log.values == [ethernet])
    #expect(flags.values == ["-R -------", "-R ------d"])
  }

  @Test("E2-4 another interface of the same kind calls no listener, but the library's own path listener")
  func otherInterface() throws {
    let network = Scripted()
    network.kernel.change { $0.addInterface(4, "eth1", addresses: ["10.1.0.5/24"]) }
    let manager = network.manager()
    manager.startListening(onQueue: queue) { [log] in log.add($0) }
    let paths = UpdateRecorder()
    let subscription = try #require(network.monitor.listen(to: .path, on: .immediate) { paths.record($0) })
    network.kernel.change { $0.addDefault(via: "10.1.0.1", on: 4, metric: 50) }
    manager.drain(queue)
    #expect(log.values == [ethernet])
    #expect(paths.updates.map(\.snapshot.machine.ipv4.interface?.name).last == "eth1")
    subscription.cancel()
  }

  @Test("E2-5 calls come in the order of the changes, on the queue that was given")
  func order() {
    let network = Scripted()
    let manager = network.manager()
    queue.suspend()
    manager.startListening(onQueue: queue) { [queue, log] status in
      dispatchPrecondition(condition: .onQueue(queue))
      log.add(status)
    }
    network.unplug()
    network.roam()
    network.plug()
    network.unplug()
    queue.resume()
    manager.drain(queue)
    #expect(log.values == [ethernet, .notReachable, .reachable(.cellular), ethernet, .notReachable])
  }

  @Test("E2-5 the default is the main queue")
  func mainQueue() async {
    let manager = Scripted().manager()
    let isMain = Log<Bool>()
    manager.startListening { _ in isMain.add(isOnMainQueue) }
    await becomes { !isMain.values.isEmpty }
    #expect(isMain.values == [true])
  }

  @Test("E2-6 a call that waits on the queue is not made after stop has returned")
  func stopped() {
    let network = Scripted()
    let manager = network.manager()
    queue.suspend()
    manager.startListening(onQueue: queue) { [log] in log.add($0) }
    network.unplug()
    manager.reachabilityQueue.sync {}
    manager.stopListening()
    queue.resume()
    manager.drain(queue)
    network.plug()
    manager.drain(queue)
    #expect(log.values.isEmpty)
  }

  @Test("E2-7 a start while started replaces the listener, and the new one gets its own first call")
  func replaced() {
    let network = Scripted()
    let manager = network.manager()
    let second = Log<Status>()
    manager.startListening(onQueue: queue) { [log] in log.add($0) }
    manager.drain(queue)
    manager.startListening(onQueue: queue) { second.add($0) }
    network.unplug()
    manager.drain(queue)
    #expect(log.values == [ethernet])
    #expect(second.values == [ethernet, .notReachable])
  }

  @Test("E2-8 stop is harmless when never started, twice, and during deliveries")
  func harmlessStops() async {
    let network = Scripted()
    let manager = network.manager()
    manager.stopListening()
    manager.stopListening()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask { [log] in
          for _ in 0..<200 {
            manager.startListening(onQueue: .global()) { log.add($0) }
            manager.stopListening()
          }
        }
      }
      group.addTask {
        for _ in 0..<200 {
          network.unplug()
          network.plug()
        }
      }
      await group.waitForAll()
    }
    manager.stopListening()
    #expect(network.monitor.snapshot.status == .unknown, "the shared monitor stops with its last listener")
    #expect(manager.status == ethernet)
  }

  @Test("E2-9 a manager in a local variable makes its first call, then no other, and is released")
  func localVariable() async {
    let network = Scripted()
    for _ in 0..<100 {
      let log = Log<Status>()
      weak let reference = listen(on: network, log)
      guard await becomes({ !log.values.isEmpty && reference == nil }) else {
        Issue.record("\(log.values), \(reference == nil ? "released" : "retained")")
        return
      }
      network.kernel.change { $0.change("eth0") { $0.mtu += 1 } }
      #expect(log.values == [ethernet] && reference == nil)
    }
    #expect(network.monitor.snapshot.status == .unknown)
  }

  /// Starts a manager without another reference; the result does not retain it.
  private func listen(on network: Scripted, _ log: Log<Status>) -> NetworkReachabilityManager? {
    let manager = network.manager()
    manager.startListening(onQueue: queue) { log.add($0) }
    weak let reference = manager
    return reference
  }

  @Test("E2-9 Alamofire 4's listener gets the first call of a manager in a local variable")
  func localVariable4() async {
    let network = Scripted()
    do {
      let manager = network.manager()
      manager.listenerQueue = queue
      manager.listener = { [log] in log.add($0) }
      manager.startListening()
    }
    await becomes { !log.values.isEmpty }
    #expect(log.values == [ethernet])
  }

  @Test("E2-9 dropping the last reference stops the calls after the first, also those on their way")
  func dropped() {
    let network = Scripted()
    var manager: NetworkReachabilityManager? = network.manager()
    let relay = manager?.reachabilityQueue
    weak let reference = manager
    queue.suspend()
    manager?.startListening(onQueue: queue) { [log] in log.add($0) }
    network.unplug()
    manager = nil
    queue.resume()
    relay?.sync {}
    queue.sync {}
    #expect(log.values == [ethernet] && reference == nil)
    #expect(network.monitor.snapshot.status == .unknown)
  }

  @Test("E2-10 the listener may stop and start listening itself")
  func reentrant() {
    let network = Scripted()
    let manager = network.manager()
    let second = Log<Status>()
    manager.startListening(onQueue: queue) { [weak manager, queue, log] status in
      log.add(status)
      manager?.stopListening()
      manager?.startListening(onQueue: queue) { [weak manager] status in
        second.add(status)
        manager?.stopListening()
      }
    }
    manager.drain(queue)
    manager.drain(queue)
    network.unplug()
    manager.drain(queue)
    #expect(log.values == [ethernet])
    #expect(second.values == [ethernet])
  }

  @Test("E2-11 two managers of one target have a first call each, and one stops without the other")
  func two() {
    let network = Scripted()
    let (one, other) = (network.manager(), network.manager())
    let second = Log<Status>()
    one.startListening(onQueue: queue) { [log] in log.add($0) }
    other.startListening(onQueue: queue) { second.add($0) }
    one.drain(queue)
    one.stopListening()
    network.unplug()
    other.drain(queue)
    #expect(log.values == [ethernet])
    #expect(second.values == [ethernet, .notReachable])
  }

  @Test("A kernel that cannot be read any more is told as unknown, to hosts' listeners too, and so is its return")
  func kernelFails() {
    let network = Scripted()
    let managers = [network.manager(), network.manager(ReachabilityTarget(.address(IPAddress(ipv4: 0xc000_0201))))]
    let logs = managers.map { manager in
      let log = Log<Status>()
      manager.startListening(onQueue: queue) { log.add($0) }
      manager.drain(queue)
      return log
    }
    network.kernel.fail(KernelError(operation: "dump", errno: 105, message: "No buffer space"))
    for manager in managers { manager.drain(queue) }
    network.kernel.change()
    for (manager, log) in zip(managers, logs) {
      manager.drain(queue)
      #expect(log.values == [ethernet, .unknown, ethernet])
    }
  }

  @Test("Alamofire 4's listener may be set late, is called on its own queue, and stays for a restart")
  func alamofire4() {
    let network = Scripted()
    let manager = network.manager()
    manager.listenerQueue = queue
    #expect(manager.startListening())
    manager.drain(queue)
    manager.listener = { [log] in log.add($0) }
    network.unplug()
    manager.drain(queue)
    manager.stopListening()
    manager.startListening()
    manager.drain(queue)
    #expect(log.values == [.notReachable, .notReachable])
    #expect(manager.listener != nil && manager.listenerQueue === queue)
  }
}
