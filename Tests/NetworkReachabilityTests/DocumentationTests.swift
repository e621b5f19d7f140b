import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

/// The articles' code (TidyTests compare the articles with it), and that it behaves as they say.
@Suite("Code of the articles")
struct DocumentationTests {
  @Test("Testing your code: scripted kernel and names")
  func testingYourCode() async throws {
    let kernel = ScriptedKernel()
    let monitor = ReachabilityMonitor(kernel: kernel)
    try monitor.start()
    #expect(monitor.snapshot.status == .notReachable)
    kernel.change([.routeAdded]) { script in
      script.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
      script.addDefault(via: "10.0.0.1", on: 2)
    }
    #expect(monitor.snapshot.status == .reachable(.ethernetOrWiFi))
    kernel.change([.routeRemoved]) { $0.removeDefaults(.ipv4) }
    #expect(monitor.snapshot.status.isReachable, "not told yet")
    kernel.advance(by: .milliseconds(10))
    #expect(monitor.snapshot.status == .notReachable)
    #expect(await monitor.waitUntilReachable(timeout: .zero) == false)
    let names = ScriptedNames(["db.internal": ["10.0.0.9"]])
    let watching = ReachabilityMonitor(kernel: kernel, names: names)
    try watching.start()
    let database = try ReachabilityTarget(host: "db.internal")
    let hosts = UpdateRecorder()
    let watch = watching.listen(to: .host, watching: [database], on: .immediate) { hosts.record($0) }
    #expect(watching.verdict(of: database)?.addresses.map(\.address.description) == ["10.0.0.9"])
    names.change("db.internal", to: .notFound)
    kernel.advance(by: .milliseconds(10))
    #expect(hosts.updates.last?.host?.path.reason == .dnsNotFound)
    let recorder = UpdateRecorder()
    let subscription = monitor.listen(on: .immediate) { recorder.record($0) }
    kernel.change { $0.addDefault(via: "10.0.0.2", on: 2) }
    #expect(recorder.statuses == [.notReachable, .reachable(.ethernetOrWiFi)])
    kernel.fail(KernelError(operation: "read", errno: 5, message: "Input/output error"))
    #expect(monitor.snapshot.status == .unknown)
    withExtendedLifetime((subscription, watch)) {}
  }

  @Test("Getting started: one evaluation", .enabled(if: Namespace.isSupported))
  func askOnce() throws {
    try Namespace().run {
      let verdict = try ReachabilityMonitor().evaluate(.default)
      print(verdict.path.status, verdict.path.interface?.name ?? "-")
      #expect(verdict.path.reason == .noRoute)
    }
  }

  @Test("Getting started: types of the configuration")
  func configuration() throws {
    let configuration = ReachabilityMonitor.Configuration(
      interfaceRequirement: InterfaceRequirement(prohibited: [.wwan]),
      interfaceOverrides: [InterfaceOverride(match: "usb*", type: .wwan, isExpensive: true)])
    let frugal = ReachabilityMonitor(configuration: configuration)
    let asking = ReachabilityMonitor.Configuration(nameServers: ["127.0.0.1:5353"], nameTimeout: .seconds(1))
    #expect(frugal.snapshot.status == .unknown && asking.nameTimeout == .seconds(1))
  }

  /// Never called: these run for as long as their monitor does.
  func gettingStarted(_ failure: any Error) async throws {
    let monitor = ReachabilityMonitor()
    try monitor.start()
    for await update in monitor.updates() {
      print(update.status, update.transition?.causes ?? [])
    }
    let subscription = monitor.listen(to: .status, on: .main) { update in
      print(update.status)
    }
    let database = try ReachabilityTarget(host: "db.internal")
    let gateway = try ReachabilityTarget(host: "fe80::1%eth0")
    for await update in monitor.updates(of: .host, watching: [database, gateway]) {
      guard let host = update.host else { continue }
      print(host.target, host.path.status, host.path.reason?.rawValue ?? "")
    }
    guard await monitor.waitUntilReachable(database, timeout: .seconds(5)) else { throw failure }
    let resolution = await monitor.resolve("db.internal", timeout: .seconds(2))
    let verdict = try monitor.evaluate(try ReachabilityTarget(host: "db.internal"), resolution: resolution)
    print(verdict.phase, verdict.addresses.map(\.address))
    withExtendedLifetime(subscription) {}
  }

  /// Never called.
  func comingFromNWPathMonitor(_ queue: DispatchQueue) throws {
    let monitor = ReachabilityMonitor(
      configuration: .init(interfaceRequirement: InterfaceRequirement(required: .wifi)))
    let subscription = monitor.listen(on: .queue(queue)) { update in
      let path = update.snapshot.machine
      print(path.status.isReachable, path.isExpensive, path.isConstrained)
    }
    try monitor.start()
    withExtendedLifetime(subscription) {}
  }

  /// Never called.
  func beyondTheFaçade() throws {
    let monitor = ReachabilityMonitor()
    let subscription = monitor.listen(watching: [try ReachabilityTarget(host: "www.example.com")]) { update in
      print(update.host?.path.status ?? update.status, update.host?.path.reason?.rawValue ?? "")
    }
    try monitor.start()
    withExtendedLifetime(subscription) {}
  }
}
