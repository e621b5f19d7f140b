import Dispatch
import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityCompatibility
import TestSupport
import Testing

/// What Reachability.swift's own tests demand, and its page promises, on a scripted network.
struct ReachabilitySwiftTests {
  private let log = Log<String>()

  private func reachability(
    _ network: Scripted, _ target: ReachabilityTarget = .default, _ context: DeliveryContext = .immediate
  ) -> Reachability {
    let reachability = Reachability(target, on: network.shared, context: context)
    reachability.whenReachable = { [log] in log.add("reachable \($0.connection)") }
    reachability.whenUnreachable = { [log] in log.add("unreachable \($0.connection)") }
    return reachability
  }

  @Test("C-01 a host whose name resolves is found reachable")
  func validHost() async throws {
    let server = try NameServer("host.example", [203, 0, 113, 5])
    let network = Scripted(nameServers: [server.address])
    let reachability = reachability(network, ReachabilityTarget(.name("host.example")), .main)
    try reachability.startNotifier()
    #expect(await becomes { log.values.contains("reachable WiFi") })
    // By its address, not only by the default path.
    #expect(
      await becomes { network.monitor.verdict(of: ReachabilityTarget(.name("host.example")))?.phase == .resolved })
    #expect(reachability.connection == .wifi)
    reachability.stopNotifier()
    withExtendedLifetime(server) {}
  }

  @Test("C-02 a host whose name does not resolve is found unreachable, perhaps after an optimistic call")
  func invalidHost() async throws {
    let server = try NameServer("host.example", [203, 0, 113, 5])
    let network = Scripted(nameServers: [server.address])
    let reachability = reachability(network, ReachabilityTarget(.name("invalidhost")), .main)
    try reachability.startNotifier()
    #expect(await becomes { log.values.last == "unreachable No Connection" })
    #expect(reachability.connection == .unavailable)
    #expect(log.values.dropLast().allSatisfy { $0.hasPrefix("reachable") || $0 == "unreachable No Connection" })
    reachability.stopNotifier()
    // Without a notifier no name server is asked.
    #expect(reachability.connection == .wifi)
    withExtendedLifetime(server) {}
  }

  @Test("E3-6 when the way out changes, the name is asked about again, though its time to live is not over")
  func askedAgain() async throws {
    let server = try NameServer("host.example", [203, 0, 113, 5])
    let network = Scripted(nameServers: [server.address])
    network.kernel.change { script in
      let nowhere = IPPrefix(IPAddress(ipv4: 0xc633_6400), length: 24)
      script.routes.append(Route(type: .blackhole, prefix: nowhere, hops: []))
    }
    let target = ReachabilityTarget(.name("host.example"))
    let reachability = reachability(network, target)
    try reachability.startNotifier()
    #expect(await becomes { network.monitor.verdict(of: target)?.phase == .resolved })
    #expect(reachability.connection == .wifi)
    server.change(to: [198, 51, 100, 5])
    network.roam()
    #expect(await becomes { log.values.last == "unreachable No Connection" })
    withExtendedLifetime(server) {}
  }

  @Test("A reachability can be made for any text; the empty one throws with EINVAL")
  func makers() throws {
    _ = try Reachability(hostname: "localhost")
    _ = try Reachability(queueQoS: .utility, targetQueue: nil, notificationQueue: nil)
    do {
      _ = try Reachability(hostname: "")
      Issue.record("the empty text is not a host")
    } catch ReachabilityError.failedToCreateWithHostname(let text, let code) {
      #expect(text.isEmpty && code == EINVAL)
    }
    let network = Scripted()
    let target = try #require(ReachabilityTarget(anyHost: "https://www.example.com"))
    #expect(Reachability(target, on: network.shared).connection == .unavailable)
    #expect(try Reachability(hostname: "https://www.example.com").connection == .unavailable)
    let error: any Error = ReachabilityError.failedToCreateWithHostname("", EINVAL)
    #expect(error.localizedDescription.contains("“” is not a host"))
    #expect((ReachabilityError.unableToGetFlags(13) as any Error).localizedDescription.contains("errno 13"))
  }

  @Test("E5-3 connections have Reachability.swift's words")
  func words() {
    let connections: [Reachability.Connection] = [.cellular, .wifi, .unavailable, .none]
    #expect(connections.map(\.description) == ["Cellular", "WiFi", "No Connection", "No Connection"])
    #expect(Notification.Name.reachabilityChanged.rawValue == "reachabilityChanged")
  }

  @Test("E2-2 and E2-3 changes of the flags are told, events without one are not")
  func changes() throws {
    let network = Scripted()
    let reachability = reachability(network)
    try reachability.startNotifier()
    network.kernel.change([.routeAdded])
    #expect(log.values == ["reachable WiFi"])
    network.plugDirectly()
    network.roam()
    network.unplug()
    #expect(log.values == ["reachable WiFi", "reachable WiFi", "reachable Cellular", "unreachable No Connection"])
    #expect(reachability.description == "-- -------" && !reachability.isReachable)
  }

  @Test("E2-7 start while started does nothing")
  func startedTwice() throws {
    let network = Scripted()
    let reachability = reachability(network)
    try reachability.startNotifier()
    try reachability.startNotifier()
    #expect(log.values == ["reachable WiFi"])
  }

  @Test("E2-8 stop is harmless when never started and twice")
  func harmlessStops() throws {
    let network = Scripted()
    let reachability = reachability(network)
    reachability.stopNotifier()
    try reachability.startNotifier()
    reachability.stopNotifier()
    reachability.stopNotifier()
    network.unplug()
    #expect(log.values == ["reachable WiFi"])
  }

  @Test("E2-9 a reachability goes with its last reference, also while it notifies")
  func lifetime() throws {
    let network = Scripted()
    var reachability: Reachability? = reachability(network)
    weak let reference = reachability
    try reachability?.startNotifier()
    reachability = nil
    network.unplug()
    #expect(reference == nil && log.values == ["reachable WiFi"])
  }

  @Test("E2-10 a closure may stop the notifier and start it again")
  func reentrant() throws {
    let network = Scripted()
    let reachability = reachability(network)
    reachability.whenReachable = { [log] reachability in
      log.add("first")
      reachability.stopNotifier()
      reachability.whenReachable = { _ in log.add("second") }
      try? reachability.startNotifier()
    }
    try reachability.startNotifier()
    #expect(log.values == ["first", "second"])
    network.unplug()
    #expect(log.values == ["first", "second", "unreachable No Connection"])
    reachability.stopNotifier()
    #expect(network.monitor.snapshot.status == .unknown, "the shared monitor stops with its last listener")
  }

  @Test("E2-10 a closure may stop the notifier in its first call, before the start has returned")
  func stopsInFirstCall() throws {
    let network = Scripted()
    let reachability = reachability(network)
    reachability.whenReachable = { [log] reachability in
      log.add("first")
      reachability.stopNotifier()
    }
    try reachability.startNotifier()
    network.unplug()
    #expect(log.values == ["first"] && network.monitor.snapshot.status == .unknown)
    try reachability.startNotifier()
    #expect(log.values == ["first", "unreachable No Connection"])
  }

  @Test("E6-1 where cellular is not allowed it is no connection, and the closure for none is called")
  func cellular() throws {
    let network = Scripted()
    network.roam()
    let reachability = reachability(network)
    #expect(reachability.connection == .cellular && reachability.allowsCellularConnection)
    reachability.allowsCellularConnection = false
    #expect(reachability.connection == .unavailable && !reachability.reachableOnWWAN)
    try reachability.startNotifier()
    #expect(log.values == ["unreachable No Connection"])
    network.plug()
    #expect(log.values.last == "reachable WiFi")
    reachability.reachableOnWWAN = true
    network.roam()
    #expect(log.values.last == "reachable Cellular" && reachability.isReachableViaWWAN)
  }

  @Test("E6-2 reading the connection before start evaluates it each time")
  func readBeforeStart() throws {
    let network = Scripted()
    let reachability = reachability(network)
    let observer = Observer(.reachabilityChanged, of: reachability) { [log] _ in log.add("posted") }
    #expect(reachability.connection == .wifi)
    network.unplug()
    #expect(reachability.connection == .unavailable)
    #expect(log.values.isEmpty)
    withExtendedLifetime(observer) {}
  }

  @Test("E6-3 each start has its first call, also when nothing changed since the stop")
  func restart() throws {
    let network = Scripted()
    let reachability = reachability(network)
    try reachability.startNotifier()
    reachability.stopNotifier()
    try reachability.startNotifier()
    #expect(log.values == ["reachable WiFi", "reachable WiFi"])
  }

  @Test("E6-4 a kernel that refuses is thrown with its errno, and the notifier can be started later")
  func refused() throws {
    let network = Scripted()
    network.kernel.refuseStart(KernelError(operation: "socket", errno: EACCES, message: "Permission denied"))
    let reachability = reachability(network)
    #expect(reachability.connection == .unavailable && reachability.description == "unavailable flags")
    do {
      try reachability.startNotifier()
      Issue.record("the kernel refused")
    } catch ReachabilityError.unableToGetFlags(let code) {
      #expect(code == EACCES)
    }
    network.kernel.refuseStart(nil)
    try reachability.startNotifier()
    #expect(log.values == ["reachable WiFi"])
  }

  @Test("The closure is called before the notification is posted, on the centre that was chosen")
  func notifications() throws {
    let network = Scripted()
    let reachability = reachability(network)
    let centre = NotificationCenter()
    reachability.notificationCenter = centre
    let observers = [.reachabilityChanged, Notification.Name(kReachabilityChangedNotification)].map { name in
      Observer(name, of: reachability, in: centre) { [log] notification in
        log.add("\(name.rawValue) \((notification.object as? Reachability)?.connection.description ?? "")")
      }
    }
    try reachability.startNotifier()
    #expect(
      log.values == ["reachable WiFi", "reachabilityChanged WiFi", "kNetworkReachabilityChangedNotification WiFi"])
    withExtendedLifetime(observers) {}
  }

  @Test("E2-5 closures run on the notification queue, on the main queue unless given")
  func queues() async throws {
    let network = Scripted()
    let queue = DispatchQueue(label: "listener")
    let onQueue = Reachability(.default, on: network.shared, context: .queue(queue))
    onQueue.whenReachable = { [log, queue] _ in
      dispatchPrecondition(condition: .onQueue(queue))
      log.add("queue")
    }
    try onQueue.startNotifier()
    queue.sync {}
    #expect(log.values == ["queue"])
    let onMain = Reachability(.default, on: network.shared)
    onMain.whenReachable = { [log] _ in log.add(isOnMainQueue ? "main" : "elsewhere") }
    try onMain.startNotifier()
    #expect(await becomes { log.values == ["queue", "main"] })
  }
}
