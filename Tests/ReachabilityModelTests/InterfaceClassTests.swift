import ReachabilityModel
import Testing

@Suite("What a person says about interfaces, and what follows for the ways over them")
struct InterfaceClassTests {
  @Test(
    "A pattern covers a name as shells do it",
    arguments: [
      ("eth0", "eth0", true), ("eth0", "eth01", false), ("eth?", "eth0", true), ("eth?", "eth", false),
      ("*", "", true), ("*", "anything", true), ("usb*", "usb", true), ("usb*", "usb0", true), ("usb*", "xusb0", false),
      ("*0", "usb0", true), ("*0", "usb1", false), ("w*n*0", "wwan00", true), ("w*n*0", "wan1", false),
      ("*a*b", "aab", true), ("*a*b", "aaba", false), ("a**b", "ab", true), ("é?", "éx", true), ("[ab]", "a", false),
    ] as [(String, String, Bool)])
  func patterns(_ pattern: String, _ name: String, _ covers: Bool) {
    #expect(InterfaceOverride(match: pattern).covers(name) == covers)
  }

  @Test("Of two that say something about the same, the first counts")
  func combined() {
    let all: [InterfaceOverride] = [
      InterfaceOverride(match: "usb*", isExpensive: true), InterfaceOverride(match: "wwan0", type: .ethernet),
      InterfaceOverride(match: "usb0", type: .wwan, isExpensive: false, isConstrained: true),
    ]
    let usb = all.combined(for: "usb0")
    #expect(usb.type == .wwan && usb.isExpensive == true && usb.isConstrained == true)
    let none = all.combined(for: "eth0")
    #expect(none.type == nil && none.isExpensive == nil && none.isConstrained == nil)
  }

  @Test("A modem is expensive, and what is set to another type is no modem any more")
  func types() {
    var interface = Interface.sample(2, "wwan0", .wwan)
    #expect(interface.isExpensive && interface.isWWAN && !interface.isConstrained && interface.isTransient)
    interface.type = .ethernet
    #expect(!interface.isExpensive && !interface.isWWAN && !interface.isTransient)
  }

  // MARK: - Tunnels

  private let tunnel = Interface.sample(9, "wg0", .tunnel, state: .unknown)
  private let modem = Interface.sample(3, "wwan0", .wwan)
  private let wire = Interface.sample(2, "eth0")

  /// A default route over each of these interfaces, with its metric, and the tunnel's halves over all.
  private func answers(_ metrics: [UInt32: UInt32], _ tables: KernelTables) throws -> [RouteQuery: RouteAnswer] {
    var answers: [RouteQuery: RouteAnswer] = [:]
    for query in TunnelRules.queries(in: tables) {
      guard query.destination.family == .ipv4, let index = query.interfaceIndex, let metric = metrics[index] else {
        answers[query] = .refused(.noRoute)
        continue
      }
      var route = try Route.byDefault(via: "10.0.0.1", on: index)
      route.metric = metric
      answers[query] = .route(route)
    }
    return answers
  }

  @Test("A tunnel is as cellular and as expensive as the physical default beneath it", arguments: [true, false])
  func tunnels(_ modemIsBest: Bool) throws {
    let tables = try KernelTables.sample([.loopback(), wire, modem, tunnel], [(2, "10.0.0.5/24"), (3, "10.0.0.6/24")])
    let answers = try answers([2: 100, 3: modemIsBest ? 50 : 200], tables)
    let applied = TunnelRules.applied(to: tables, answers)
    let found = try #require(applied.interface(9))
    #expect(found.isWWAN == modemIsBest && found.isExpensive == modemIsBest && found.type == .tunnel)
    #expect(applied.interface(2) == wire && applied.interface(3) == modem)
    let query = RouteQuery(try ip("192.0.2.1"))
    let over = RouteAnswer.route(
      Route(prefix: try block("0.0.0.0/1"), hops: [.init(interfaceIndex: 9)], source: try ip("10.0.0.5")))
    let path = StatusRules.evaluate(over, to: query, in: applied)
    #expect(path.status == .reachable(modemIsBest ? .wwan : .ethernetOrWiFi))
    #expect(path.flags.contains(.transientConnection) && path.isExpensive == modemIsBest)
  }

  @Test("What a configuration says of a tunnel's cost wins over what is beneath; a device it names is beneath it")
  func declaredTunnels() throws {
    var (declared, based) = (tunnel, tunnel)
    declared.hasDeclaredCost = true
    based.lowerIndex = 3
    for (device, isWWAN, isExpensive) in [(declared, true, false), (based, true, true)] {
      let tables = try KernelTables.sample([wire, modem, device], [(3, "10.0.0.6/24")])
      let metrics: [UInt32: UInt32] = device.lowerIndex == nil ? [3: 50] : [:]
      let found = try #require(TunnelRules.applied(to: tables, try answers(metrics, tables)).interface(9))
      #expect(found.isWWAN == isWWAN && found.isExpensive == isExpensive)
    }
  }

  @Test("A tunnel on a tunnel takes what is at the bottom; a circle, read link by link, has none")
  func stackedTunnels() throws {
    var (lower, upper) = (tunnel, Interface.sample(10, "mv0", .tunnel))
    upper.lowerIndex = 9
    for (underlyingInterface, isWWAN) in [(3, true), (2, false), (10, false)] as [(UInt32, Bool)] {
      lower.lowerIndex = underlyingInterface
      let tables = try KernelTables.sample([wire, modem, lower, upper])
      #expect(TunnelRules.applied(to: tables, try answers([:], tables)).interface(10)?.isWWAN == isWWAN)
    }
  }

  @Test("Nothing is asked where a tunnel has nothing to take: no tunnel, or no device that is anything but free")
  func noQuestions() throws {
    #expect(TunnelRules.queries(in: try .sample([.loopback(), wire, modem])).isEmpty)
    #expect(TunnelRules.queries(in: try .sample([.loopback(), wire, tunnel])).isEmpty)
    #expect(TunnelRules.queries(in: try .sample([.loopback(), wire, modem, tunnel])).count == 8)
  }

  // MARK: - Requirements

  @Test("E8-3 only what is permitted counts: the kernel's choice if it is, else the best of the others")
  func requirement() throws {
    let tables = try KernelTables.sample([.loopback(), wire, modem], [(2, "10.0.0.5/24"), (3, "10.0.0.6/24")])
    let wifi = InterfaceRequirement(required: .wifi)
    let cellular = InterfaceRequirement(required: .wwan)
    let notCellular = InterfaceRequirement(prohibited: [.wwan])
    var answers: [RouteQuery: RouteAnswer] = [:]
    func path(_ requirement: InterfaceRequirement) throws -> NetworkPath {
      let queries = TargetRules.queries(for: .default, permitting: requirement, in: tables)
      for query in queries where answers[query] == nil {
        answers[query] =
          query.destination.family == .ipv6
          ? .refused(.noRoute) : .route(try .byDefault(via: "10.0.0.1", on: query.interfaceIndex ?? 2))
      }
      return TargetRules.verdict(for: .default, permitting: requirement, answers: answers, in: tables).path
    }
    #expect(try path(.none).interface?.name == "eth0")
    #expect(try path(notCellular).interface?.name == "eth0")
    #expect(try path(cellular).interface?.name == "wwan0")
    #expect(try path(wifi).status == .notReachable && path(wifi).reason == .noRoute)
    #expect(try path(InterfaceRequirement(required: .wwan, prohibited: [.wwan])).status == .notReachable)
    // A target that is bound to what is not permitted.
    let bound = ReachabilityTarget(.defaultPath, interface: "eth0")
    #expect(TargetRules.queries(for: bound, permitting: cellular, in: tables).isEmpty)
    let verdict = TargetRules.verdict(for: bound, permitting: cellular, answers: answers, in: tables)
    #expect(verdict.path.status == .notReachable && verdict.path.reason == .noRoute)
    #expect(StatusRules.localLink(permitting: wifi, in: tables).status == .notReachable)
    #expect(StatusRules.localLink(permitting: notCellular, in: tables).status.isReachable)
  }

  // MARK: - Scopes, loopback, deprecated addresses

  @Test("A zone that is a number is an interface's index, unless an interface has it for a name")
  func numericZones() throws {
    let odd = Interface.sample(5, "3")
    #expect(try KernelTables.sample([wire, modem]).interface(scope: "3")?.name == "wwan0")
    #expect(try KernelTables.sample([wire, modem, odd]).interface(scope: "3")?.index == 5)
    #expect(try KernelTables.sample([wire]).interface(scope: "3") == nil)
    let target = try ReachabilityTarget(host: "fe80::1%2")
    let tables = try KernelTables.sample([wire])
    #expect(TargetRules.queries(for: target, in: tables).map(\.interfaceIndex) == [2])
    let unknown = TargetRules.verdict(for: try ReachabilityTarget(host: "fe80::1%7"), answers: [:], in: tables)
    #expect(unknown.path.reason == .unknownInterface)
  }

  @Test("A loopback address is not reached through another interface, though its default route covers it")
  func loopbackScope() throws {
    let tables = try KernelTables.sample([.loopback(), wire], [(2, "10.0.0.5/24")])
    let target = try ReachabilityTarget(host: "127.0.0.1", interface: "eth0")
    let query = try #require(TargetRules.queries(for: target, in: tables).first)
    let verdict = TargetRules.verdict(
      for: target, answers: [query: .route(try .byDefault(via: "10.0.0.1"))], in: tables)
    #expect(verdict.path.status == .notReachable && verdict.path.reason == .noRoute)
  }

  @Test("A deprecated IPv6 address alone is no way out, but an address may be reached from it")
  func deprecated() throws {
    let prefix = try block("2001:db8::5/64")
    func path(
      _ flags: InterfaceAddress.Flags, _ subject: StatusRules.Subject, from source: String? = nil
    ) throws -> NetworkPath {
      let tables = KernelTables(
        interfaces: [wire], addresses: [InterfaceAddress(interfaceIndex: 2, prefix: prefix, flags: flags)])
      let query = RouteQuery(try ip("2000::1"), source: try source.map { try ip($0) })
      let route = try Route.byDefault(via: "fe80::1", source: "2001:db8::5")
      return StatusRules.evaluate(.route(route), to: query, as: subject, in: tables)
    }
    #expect(try path([], .defaultPath).status.isReachable)
    #expect(try path(.deprecated, .defaultPath).reason == .noSource)
    #expect(try path(.deprecated, .address).status.isReachable)
    // Who asks for that very address may have it.
    #expect(try path(.deprecated, .defaultPath, from: "2001:db8::5").status.isReachable)
  }

  @Test("E5-4 E5-5 flags describe themselves as scutil does, and for a debugger as Apple's sample")
  func descriptions() {
    let flags: ReachabilityFlags = [.reachable, .isDirect, .isWWAN]
    #expect("\(flags)" == "Reachable,Directly Reachable Address,WWAN")
    #expect(flags.debugDescription == "WR ------d" && String(reflecting: ReachabilityFlags()) == "-- -------")
  }
}
