import ReachabilityModel
import Testing

@Suite("From a target to its verdict")
struct TargetRulesTests {
  static let addresses: [(UInt32, String)] = [
    (1, "127.0.0.1/8"), (1, "::1/128"), (2, "10.0.0.5/24"), (2, "fd00::5/64"), (3, "10.0.1.5/24"), (4, "10.0.2.5/24"),
  ]

  func tables() throws -> KernelTables {
    try .sample(
      [.loopback(), .sample(2, "eth0"), .sample(3, "eth1"), .sample(4, "off0", flags: [], state: .down)], Self.addresses
    )
  }

  /// The verdict when every question gets the answer that `answer` gives.
  func verdict(
    _ target: ReachabilityTarget, _ resolution: NameResolution = .pending, in tables: KernelTables? = nil,
    answer: (RouteQuery) throws -> RouteAnswer
  ) throws -> HostVerdict {
    let tables = try tables ?? self.tables()
    let queries = TargetRules.queries(for: target, resolution: resolution, in: tables)
    let answers = Dictionary(try queries.map { ($0, try answer($0)) }, uniquingKeysWith: { first, _ in first })
    return TargetRules.verdict(for: target, resolution: resolution, answers: answers, in: tables)
  }

  func wayOut(_ query: RouteQuery) throws -> RouteAnswer {
    let isIPv4 = query.destination.family == .ipv4
    return .route(try .byDefault(via: isIPv4 ? "10.0.0.1" : "fe80::1", source: isIPv4 ? "10.0.0.5" : "fd00::5"))
  }

  @Test("E4-4 a mapped address is asked about as IPv4")
  func mapped() throws {
    let queries = TargetRules.queries(for: try ReachabilityTarget(host: "::ffff:10.9.9.9"), in: try tables())
    #expect(try queries == [RouteQuery(ip("10.9.9.9"))])
    #expect(try verdict(ReachabilityTarget(host: "::ffff:10.9.9.9"), answer: wayOut).path.status.isReachable)
  }

  @Test("E4-2 an unspecified address that was put into a target by hand is the default path all the same")
  func unspecifiedByHand() throws {
    for text in ["0.0.0.0", "::", "::ffff:0.0.0.0"] {
      let target = ReachabilityTarget(.address(try ip(text)))
      let asked = TargetRules.queries(for: target, in: try tables()).map(\.destination)
      #expect(asked == StatusRules.sentinels(.ipv4) + StatusRules.sentinels(.ipv6), "\(text)")
      #expect(try verdict(target, answer: wayOut).path.status.isReachable)
    }
  }

  @Test("E4-1 the default path is reachable by either family, and shows both")
  func eitherFamily() throws {
    let rows: [(Bool, Bool)] = [(true, true), (true, false), (false, true), (false, false)]
    for (four, six) in rows {
      let found = try verdict(.default) { query in
        let reachable = query.destination.family == .ipv4 ? four : six
        return reachable ? try wayOut(query) : .refused(.noRoute)
      }
      #expect(found.path.status.isReachable == (four || six))
      #expect(found.addresses.map(\.address.description) == ["0.0.0.0", "::"])
      #expect(found.addresses.map(\.path.status.isReachable) == [four, six])
      if !four, !six { #expect(found.path == .none(.noRoute)) }
    }
  }

  @Test("E4-6 a pair whose local address is not ours is not reachable, whatever the remote")
  func foreignSource() throws {
    for host in ["10.0.0.9", "default", "db.internal", "local-link"] {
      let target = try ReachabilityTarget(host: host, source: "9.9.9.9")
      #expect(TargetRules.queries(for: target, in: try tables()).first == RouteQuery(try ip("9.9.9.9")))
      #expect(try verdict(target, answer: wayOut).path == .none(.noSource), "\(host)")
    }
    #expect(
      try verdict(ReachabilityTarget(host: "fd00::9", source: "fd00::6"), answer: wayOut).path == .none(.noSource))
    #expect(
      try verdict(ReachabilityTarget(host: "10.0.0.9", source: "0.0.0.0"), answer: wayOut).path == .none(.noSource))
  }

  @Test("An IPv4 source in a block of local addresses is ours, although no interface has it")
  func sourceInLocalBlock() throws {
    let source = try ip("192.0.2.9")
    func answer(_ query: RouteQuery) throws -> RouteAnswer {
      guard query.destination == source else { return try wayOut(query) }
      return .route(
        Route(type: .local, prefix: try block("192.0.2.0/24"), table: 255, hops: [.init(interfaceIndex: 1)]))
    }
    let found = try verdict(ReachabilityTarget(host: "10.9.9.9", source: "192.0.2.9"), answer: answer)
    #expect(found.path.status.isReachable && found.path.source == source)
    let missing = try verdict(ReachabilityTarget(host: "10.9.9.9", source: "192.0.2.9")) { _ in .refused(.noRoute) }
    #expect(missing.path == .none(.noSource))
  }

  @Test("The address of a member of a VRF is a source only within that VRF")
  func sourceInVRF() throws {
    var (vrf, member) = (Interface.sample(5, "vrf0"), Interface.sample(3, "eth1"))
    (vrf.vrfIndex, member.vrfIndex) = (5, 5)
    let tables = try KernelTables.sample([.sample(2, "eth0"), member, vrf], [(2, "10.0.0.5/24"), (3, "10.0.1.5/24")])
    for (source, interface, isOurs) in [
      ("10.0.1.5", nil, false), ("10.0.1.5", "eth0", false), ("10.0.1.5", "vrf0", true), ("10.0.1.5", "eth1", true),
      ("10.0.0.5", nil, true), ("10.0.0.5", "eth0", true), ("10.0.0.5", "vrf0", false), ("10.0.0.5", "eth1", false),
    ] as [(String, String?, Bool)] {
      let target = try ReachabilityTarget(host: "10.9.9.9", source: source, interface: interface)
      let found = try verdict(target, in: tables, answer: wayOut).path
      #expect((found.reason != .noSource) == isOurs, "\(source) \(interface ?? "")")
    }
  }

  @Test("E4-6 neither is one whose local address is unusable; an address of an interface that is down is one")
  func unusableSource() throws {
    let off = Interface.sample(3, "eth1", flags: [], state: .down)
    for (source, host) in [("10.0.3.5/24", "10.0.0.9"), ("fd03::5/64", "fd00::9")] {
      let address = InterfaceAddress(interfaceIndex: 3, prefix: try block(source))
      let tables = KernelTables(interfaces: [.sample(2), off], addresses: [address])
      let target = try ReachabilityTarget(host: host, source: address.address.description)
      #expect(TargetRules.queries(for: target, in: tables).count == 1, "\(source)")
    }
    for flags in [InterfaceAddress.Flags.tentative, .dadFailed] {
      let address = InterfaceAddress(interfaceIndex: 2, prefix: try block("fd00::7/64"), flags: flags)
      let tables = KernelTables(interfaces: [.sample(2)], addresses: [address])
      let target = try ReachabilityTarget(host: "fd00::9", source: "fd00::7")
      #expect(try verdict(target, in: tables, answer: wayOut).path.reason == .noSource)
    }
  }

  @Test("E4-7 a pair with an own local address has the flags of the remote, asked with that source")
  func ownSource() throws {
    let target = try ReachabilityTarget(host: "10.9.9.9", source: "10.0.1.5")
    let asked = TargetRules.queries(for: target, in: try tables())
    #expect(try asked == [RouteQuery(ip("10.9.9.9"), source: try ip("10.0.1.5"))])
    let found = try verdict(target, answer: wayOut)
    #expect(try found.path.flags == .reachable && found.path.source == ip("10.0.1.5"))
    let none = try verdict(target) { _ in .refused(.prohibited) }
    #expect(none.path == .none(.prohibited))
  }

  @Test("E4-7 a loopback source with a remote elsewhere is left out, and kept towards this machine")
  func loopbackSource() throws {
    let remote = try ReachabilityTarget(host: "10.9.9.9", source: "127.0.0.1")
    #expect(try TargetRules.queries(for: remote, in: try tables()) == [RouteQuery(ip("10.9.9.9"))])
    let here = try ReachabilityTarget(host: "127.0.0.9", source: "127.0.0.1")
    #expect(
      TargetRules.queries(for: here, in: try tables()) == [RouteQuery(try ip("127.0.0.9"), source: try ip("127.0.0.1"))]
    )
    #expect(
      try verdict(ReachabilityTarget(host: "default", source: "127.0.0.1"), answer: wayOut).path.status.isReachable)
  }

  @Test("A default path with a source has that source's family only")
  func defaultWithSource() throws {
    let found = try verdict(ReachabilityTarget(host: "default", source: "fd00::5"), answer: wayOut)
    #expect(try found.path.status.isReachable && found.path.source == ip("fd00::5"))
    #expect(found.addresses.map(\.path.reason) == [.noSource, nil])
  }

  @Test("E4-8 a scoped target is asked about through that interface only")
  func scoped() throws {
    let target = try ReachabilityTarget(host: "10.9.9.9", interface: "eth1")
    #expect(
      TargetRules.queries(for: target, in: try tables()) == [RouteQuery(try ip("10.9.9.9"), interfaceIndex: 3)])
    #expect(
      TargetRules.queries(for: try ReachabilityTarget(host: "default", interface: "eth1"), in: try tables())
        .allSatisfy { $0.interfaceIndex == 3 })
  }

  @Test(
    "E4-8 an interface that does not exist is a reason, for every kind of target",
    arguments: [
      "10.9.9.9", "default", "local-link", "db.internal", "fe80::1",
    ])
  func unknownInterface(_ host: String) throws {
    let target = try ReachabilityTarget(host: host, interface: "eth9")
    #expect(TargetRules.queries(for: target, in: try tables()).isEmpty)
    #expect(try verdict(target, answer: wayOut).path == .none(.unknownInterface))
  }

  @Test("A target is unknown while its question has no answer")
  func unanswered() throws {
    let found = TargetRules.verdict(for: try ReachabilityTarget(host: "10.9.9.9"), answers: [:], in: try tables())
    #expect(found.path == .unknown(.starting))
    #expect(TargetRules.verdict(for: .default, answers: [:], in: try tables()).path.status == .unknown)
  }
}
