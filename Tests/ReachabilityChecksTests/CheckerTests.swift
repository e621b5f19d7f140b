import Locks
import NetworkReachabilityTesting
import ReachabilityChecks
import Testing

@Suite("Checker")
struct CheckerTests {
  let kernel = ScriptedKernel()
  let prober = ScriptedProber()
  let monitor: ReachabilityMonitor
  let checker: Checker

  init() throws {
    let kernel = kernel
    // Beyond the default route; no server is queried.
    monitor = ReachabilityMonitor(configuration: .init(nameServers: ["192.0.2.53"]), kernel: kernel)
    try monitor.start()
    checker = Checker(monitor: monitor, prober: prober)
    kernel.change {
      $0.addLoopback()
      $0.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
      $0.addDefault(via: "10.0.0.1", on: 2)
    }
  }

  static func result(_ state: CheckResult.State, _ reason: Reason? = nil, _ address: String? = nil)
    -> CheckResult
  {
    CheckResult(
      state, reason, address: address.flatMap { IPAddress($0) }, startedAt: Timestamp(microseconds: 1),
      duration: .milliseconds(2))
  }

  func request(_ text: String) throws -> CheckRequest { CheckRequest(try CheckTarget(text)) }

  @Test("A responding target is up, with its route")
  func up() async throws {
    prober.follow { _ in Self.result(.up, nil, "192.0.2.9") }
    let outcome = await checker.check(try request("tcp://db:5432"))
    #expect(outcome.result.state == .up)
    #expect(outcome.path?.gateway == IPAddress("10.0.0.1"))
  }

  @Test("A refusing target is down when its route exists")
  func down() async throws {
    prober.follow { _ in Self.result(.down, .refused, "10.0.0.9") }
    let outcome = await checker.check(try request("tcp://10.0.0.9:1"))
    #expect(outcome.result.state == .down)
    #expect(outcome.result.reason == .refused)
  }

  @Test("Without a route the target is unreachable and not contacted")
  func unreachableAddress() async throws {
    kernel.change { $0.removeDefaults(.ipv4) }
    let outcome = await checker.check(try request("tcp://192.0.2.9:1"))
    #expect(outcome.result.state == .unreachable)
    #expect(outcome.result.reason == .noRoute)
    #expect(prober.requests.isEmpty)
  }

  @Test("A route lost during the check makes the target unreachable")
  func routeLostDuringTheCheck() async throws {
    async let outcome = checker.check(try request("tcp://db:5432"))
    while prober.open.isEmpty { await Task.yield() }
    kernel.change { $0.removeDefaults(.ipv4) }
    prober.answer { _ in Self.result(.down, .connectTimeout, "192.0.2.9") }
    #expect(try await outcome.result.state == .unreachable)
    #expect(try await outcome.result.reason == .noRoute)
  }

  @Test("A name that does not exist is down")
  func notFound() async throws {
    prober.follow { _ in Self.result(.down, .dnsNotFound) }
    #expect(await checker.check(try request("tcp://db:5432")).result.state == .down)
  }

  @Test("An unresolvable name without a route is unreachable")
  func noServer() async throws {
    kernel.change { $0.removeDefaults(.ipv4) }
    prober.follow { _ in Self.result(.unknown, .dnsTimeout) }
    let outcome = await checker.check(try request("tcp://db:5432"))
    #expect(outcome.result.state == .unreachable)
    #expect(outcome.result.reason == .noRoute)
  }

  /// A checker of a machine like this one, with other name servers.
  private func checker(nameServer: String) throws -> (Checker, ReachabilityMonitor) {
    let monitor = ReachabilityMonitor(
      configuration: .init(settle: .zero, nameServers: [nameServer]), kernel: kernel)
    try monitor.start()
    return (Checker(monitor: monitor, prober: prober), monitor)
  }

  @Test(
    "Without a way out, a name server that is near may still be asked: that it fails is not for our way to answer",
    arguments: [(CheckResult.State.down, Reason.dnsNotFound), (.unknown, .dnsTimeout), (.unknown, .dnsServerFailure)],
    ["10.0.0.53", "127.0.0.1:53"])
  func nearServer(_ found: (CheckResult.State, Reason), _ server: String) async throws {
    kernel.change { $0.removeDefaults(.ipv4) }
    let (checker, monitor) = try checker(nameServer: server)
    prober.follow { _ in Self.result(found.0, found.1) }
    let outcome = await checker.check(try request("tcp://db.lan:5432"))
    #expect(outcome.result.state == found.0 && outcome.result.reason == found.1)
    monitor.stop()
  }

  @Test(
    "With its cable pulled, a name is unreachable, wherever its server is", arguments: ["10.0.0.53", "127.0.0.1:53"])
  func noCable(_ server: String) async throws {
    kernel.change { script in
      script.removeDefaults(.ipv4)
      script.change("eth0") {
        $0.operationalState = .down
        $0.flags.subtract([.running, .lowerUp])
      }
      script.routes = []
    }
    let (checker, monitor) = try checker(nameServer: server)
    prober.follow { _ in Self.result(.unknown, .dnsTimeout) }
    let outcome = await checker.check(try request("tcp://db.lan:5432"))
    #expect(outcome.result.state == .unreachable)
    prober.follow { _ in Self.result(.down, .dnsNotFound) }
    #expect(await checker.check(try request("tcp://db.lan:5432")).result.state == .down, "a server has responded")
    monitor.stop()
  }

  @Test("After a redirect the route is that of the last host")
  func redirected() async throws {
    kernel.change { $0.addInterface(3, "eth1", addresses: ["10.1.0.5/24"]) }
    prober.follow { _ in Self.result(.up, nil, "10.1.0.9") }
    let outcome = await checker.check(try request("http://10.0.0.9/"))
    #expect(outcome.path?.interface?.name == "eth1")
  }

  /// A local route to addresses that no interface has.
  private func addAnyIP() {
    kernel.change {
      $0.routes.append(
        Route(
          type: .local, prefix: IPPrefix(IPAddress(ipv4: 0x0a4d_0000), length: 16), hops: [.init(interfaceIndex: 1)]))
    }
  }

  @Test(
    "An address that a local route leads to counts as our own: callers reach it only where the policy allows it",
    arguments: [
      (ContactPolicy(), false), (ContactPolicy(allow: [IPPrefix(IPAddress(ipv4: 0x0a4d_0000), length: 16)]), true),
      (ContactPolicy(allow: [IPPrefix(IPAddress(ipv4: 0x0a4d_0000), length: 16)], ownPorts: [5432]), false),
    ])
  func anyIP(_ policy: ContactPolicy, _ isAllowed: Bool) async throws {
    addAnyIP()
    prober.follow { _ in Self.result(.up, nil, "10.77.0.5") }
    var request = try request("tcp://10.77.0.5:5432")
    request.policy = policy
    let result = await checker.check(request).result
    #expect(result.state == (isAllowed ? .up : .unknown))
    #expect(result.reason == (isAllowed ? nil : .policyDenied) && prober.requests.isEmpty != isAllowed)
    if !isAllowed { #expect(result.address == nil && result.duration == .zero) }
    // Targets of the configuration are allowed.
    request.policy = nil
    #expect(await checker.check(request).result.state == .up)
  }

  @Test("The prober applies the contact policy to any address")
  func contactDecisions() async throws {
    addAnyIP()
    let asking = DecidingProber(["10.77.0.5", "10.0.0.9", "198.41.0.4", "10.0.0.255", "192.0.2.9"])
    kernel.change { script in
      script.removeDefaults(.ipv4)
      script.routes.append(
        Route(
          type: .broadcast, prefix: IPPrefix(IPAddress(ipv4: 0x0a00_00ff), length: 32), hops: [.init(interfaceIndex: 2)]
        ))
    }
    let checker = Checker(monitor: monitor, prober: asking)
    for target in ["tcp://db.lan:5432", "tcp://10.0.0.9:5432"] {
      var request = try request(target)
      _ = await checker.check(request)
      #expect(asking.decisions == [.allowed, .allowed, .noRoute, .noRoute, .noRoute], "\(target)")
      request.policy = ContactPolicy()
      _ = await checker.check(request)
      #expect(asking.decisions == [.denied, .allowed, .noRoute, .denied, .denied], "\(target)")
    }
  }

  @Test("A denial does not depend on the route")
  func denied() async throws {
    kernel.change { $0.removeDefaults(.ipv4) }
    prober.follow { _ in Self.result(.unknown, .policyDenied) }
    #expect(await checker.check(try request("tcp://db:5432")).result.reason == .policyDenied)
  }

  @Test("A route target is evaluated by the kernel only")
  func route() async throws {
    #expect(await checker.check(try request("route://192.0.2.9")).result.state == .up)
    kernel.change { $0.removeDefaults(.ipv4) }
    let outcome = await checker.check(try request("route://192.0.2.9"))
    #expect(outcome.result.state == .unreachable)
    #expect(outcome.result.reason == .noRoute)
    #expect(prober.requests.isEmpty)
  }

  @Test("Equal concurrent checks are shared")
  func coalescing() async throws {
    let outcomes = Locked<[CheckOutcome]>([])
    for _ in 0..<3 {
      checker.check(try request("tcp://10.0.0.9:1")) { outcome in outcomes.withLock { $0.append(outcome) } }
    }
    checker.check(try request("tcp://10.0.0.9:2")) { outcome in outcomes.withLock { $0.append(outcome) } }
    #expect(prober.requests.count == 2)
    prober.answer { _ in Self.result(.up, nil, "10.0.0.9") }
    #expect(outcomes.withLock(\.count) == 4)
    checker.check(try request("tcp://10.0.0.9:1")) { _ in }
    #expect(prober.requests.count == 3, "one that has ended is made again")
    // A running check keeps these objects alive.
    prober.answer { _ in Self.result(.up, nil, "10.0.0.9") }
  }

  @Test("A cached outcome within its maximum age is returned")
  func maximumAge() async throws {
    prober.follow { _ in Self.result(.up, nil, "10.0.0.9") }
    let request = try request("tcp://10.0.0.9:1")
    _ = await checker.check(request)
    _ = await checker.check(request, maximumAge: .seconds(3_600))
    #expect(prober.requests.count == 1)
    _ = await checker.check(request)
    #expect(prober.requests.count == 2)
  }

  @Test("Cancellation completes immediately; the last one ends the check")
  func cancellation() async throws {
    let request = try request("tcp://10.0.0.9:1")
    let reasons = Locked<[Reason?]>([])
    let note: @Sendable (CheckOutcome) -> Void = { outcome in reasons.withLock { $0.append(outcome.result.reason) } }
    let first = checker.check(request, note)
    let second = checker.check(request, note)
    first.cancel()
    first.cancel()
    #expect(reasons.withLock(\.self) == [.cancelled])
    #expect(prober.open.count == 1)
    second.cancel()
    #expect(reasons.withLock(\.self) == [.cancelled, .cancelled])
    #expect(prober.open.isEmpty)
    // A new check does not receive the cancellation of the old one.
    checker.check(request, note)
    prober.answer { _ in Self.result(.up, nil, "10.0.0.9") }
    #expect(reasons.withLock(\.self) == [.cancelled, .cancelled, nil])
  }

  @Test("A cancelled task ends its check")
  func taskCancellation() async throws {
    let request = try request("tcp://10.0.0.9:1")
    let task = Task { [checker] in await checker.check(request) }
    while prober.open.isEmpty { await Task.yield() }
    task.cancel()
    #expect(await task.value.result.reason == .cancelled)
  }
}

/// Applies the policy to some addresses, as the real prober does for a name and for redirects.
private final class DecidingProber: SelectiveProber {
  private let addresses: [IPAddress]
  private let found = Locked<[ContactDecision]>([])

  init(_ texts: [String]) { addresses = texts.compactMap { IPAddress($0) } }

  var decisions: [ContactDecision] { found.withLock(\.self) }

  func check(_ request: CheckRequest, _ completion: @escaping @Sendable (CheckResult) -> Void) -> any CheckCancellation
  {
    check(request, where: { _, _ in .allowed }, completion)
  }

  func check(
    _ request: CheckRequest, where decision: @escaping @Sendable (IPAddress, UInt16?) -> ContactDecision,
    _ completion: @escaping @Sendable (CheckResult) -> Void
  ) -> any CheckCancellation {
    found.withLock { $0 = addresses.map { decision($0, request.target.port) } }
    completion(CheckResult(.up, startedAt: Timestamp(microseconds: 0), duration: .zero))
    return Nothing()
  }

  private struct Nothing: CheckCancellation {
    func cancel() {}
  }
}
