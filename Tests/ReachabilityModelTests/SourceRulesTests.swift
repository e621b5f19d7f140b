import ReachabilityModel
import Testing

@Suite("Which source and which leg a verdict takes")
struct SourceRulesTests {
  let tables = KernelTables(interfaces: StatusRulesTests.interfaces)

  func evaluate(
    _ route: Route, _ destination: String, from source: String? = nil, as subject: StatusRules.Subject = .address
  ) throws -> NetworkPath {
    let query = RouteQuery(try ip(destination), source: try source.map { try ip($0) })
    return StatusRules.evaluate(.route(route), to: query, as: subject, in: tables)
  }

  @Test("A way without a source that can be answered is none")
  func noSource() throws {
    // route's source, destination, on the link?, judged as the way out?, reachable?
    let rows: [(String?, String, onLink: Bool, wayOut: Bool, reachable: Bool)] = [
      (nil, "10.9.9.9", false, false, false), ("0.0.0.0", "10.9.9.9", false, false, false),
      ("127.0.0.1", "10.9.9.9", false, false, false), ("10.0.0.5", "10.9.9.9", false, false, true),
      ("169.254.7.7", "10.9.9.9", false, false, false), ("169.254.7.7", "10.9.9.9", true, false, true),
      ("169.254.7.7", "169.254.1.1", true, false, true), ("169.254.7.7", "0.0.0.1", true, true, false),
      ("10.0.0.5", "0.0.0.1", false, true, true), ("fe80::5", "2000::1", false, true, false),
      ("fe80::5", "2001:db8::1", false, false, false), ("fe80::5", "fe80::9", true, false, true),
      ("fe80::5", "ff02::1", true, false, true), ("fd00::5", "2000::1", false, true, true),
      ("2001:db8::5", "2000::1", false, true, true), ("::", "2000::1", false, true, false),
      ("::1", "2000::1", false, true, false), ("127.0.0.1", "127.0.0.2", true, false, true),
    ]
    for row in rows {
      let gateway = row.1.contains(":") ? "fe80::1" : "10.0.0.1"
      var route = try Route.byDefault(via: gateway, source: row.0)
      if row.onLink { route.hops = [.init(interfaceIndex: 2)] }
      let path = try evaluate(route, row.1, as: row.wayOut ? .defaultPath : .address)
      #expect(path.status.isReachable == row.reachable, "\(row)")
      #expect(path.reason == (row.reachable ? nil : .noSource), "\(row)")
    }
  }

  @Test("E4-7 the source that was asked for wins over the route's own")
  func askedSource() throws {
    let route = try Route.byDefault(via: "10.0.0.1", source: nil)
    #expect(try evaluate(route, "10.9.9.9", from: "10.0.0.7").source == ip("10.0.0.7"))
    let other = try Route.byDefault(via: "10.0.0.1", source: "10.0.0.5")
    #expect(try evaluate(other, "10.9.9.9", from: "10.0.0.7").source == ip("10.0.0.7"))
  }

  private func multipath() throws -> Route {
    var route = try Route.byDefault(via: "10.0.0.1")
    route.hops = [
      .init(interfaceIndex: 2, gateway: try ip("10.0.0.1"), isLinkDown: true),
      .init(interfaceIndex: 99, gateway: try ip("10.0.9.1")),
      .init(interfaceIndex: 3, gateway: try ip("10.0.1.1")), .init(interfaceIndex: 7, gateway: try ip("10.0.2.1")),
    ]
    return route
  }

  @Test("Of a multipath default the first leg that passes packets speaks")
  func firstUsableLeg() throws {
    let path = try evaluate(try multipath(), "0.0.0.1", as: .defaultPath)
    #expect(try path.interface?.name == "eth1" && path.gateway == ip("10.0.1.1") && path.reason == nil)
  }

  @Test("The source of another leg is the route's own, else one of the router's network that is not deprecated")
  func sourceOfAnotherLeg() throws {
    var route = try Route.byDefault(via: "fe80::9", source: "fd00:9::1")
    route.hops = [
      .init(interfaceIndex: 2, gateway: try ip("fe80::9"), isLinkDown: true),
      .init(interfaceIndex: 3, gateway: try ip("fd00:2::9")),
    ]
    var old = InterfaceAddress(interfaceIndex: 3, prefix: try block("fd00:1::1/64"))
    old.flags = .deprecated
    let tables = KernelTables(
      interfaces: StatusRulesTests.interfaces,
      addresses: [
        old, InterfaceAddress(interfaceIndex: 3, prefix: try block("fd00:1::5/64")),
        InterfaceAddress(interfaceIndex: 3, prefix: try block("fd00:2::5/64")),
      ])
    func source() throws -> IPAddress? {
      StatusRules.evaluate(.route(route), to: RouteQuery(try ip("2000::1")), as: .defaultPath, in: tables).source
    }
    #expect(try source() == ip("fd00:2::5"))
    route.hops[1].gateway = try ip("fe80::9")
    #expect(try source() == ip("fd00:1::5"))
    route.preferredSource = try ip("fd00:9::1")
    #expect(try source() == ip("fd00:9::1"))
  }

  @Test("An address goes by the leg that the kernel takes, though another one would pass packets")
  func chosenLeg() throws {
    var route = try multipath()
    let down = try evaluate(route, "10.9.9.9")
    #expect(try down.interface?.name == "eth0" && down.gateway == ip("10.0.0.1") && down.reason == .linkDown)
    route.taken = 2
    let up = try evaluate(route, "10.9.9.9")
    #expect(try up.interface?.name == "eth1" && up.gateway == ip("10.0.1.1") && up.reason == nil)
  }

  @Test("When no leg passes packets, the one that comes furthest speaks, the first on a tie")
  func furthestLeg() throws {
    let tables = KernelTables(interfaces: [
      .sample(2, "eth0", flags: [], state: .down), .sample(3, "eth1", flags: .up, state: .down),
      .sample(4, "eth2", flags: .up, state: .lowerLayerDown), .sample(5, "eth3", flags: .up, state: .dormant),
    ])
    func reason(_ nextHops: [UInt32]) throws -> (Reason?, String?) {
      var route = try Route.byDefault(via: "10.0.0.1")
      route.hops = nextHops.map { Route.NextHop(interfaceIndex: $0) }
      let path = StatusRules.evaluate(
        .route(route), to: RouteQuery(try ip("0.0.0.1")), as: .defaultPath, in: tables)
      return (path.reason, path.interface?.name)
    }
    #expect(try reason([2]) == (.noRoute, nil))
    #expect(try reason([2, 3]) == (.linkDown, "eth1"))
    #expect(try reason([4, 3]) == (.linkDown, "eth2"))
    #expect(try reason([3, 5, 4]) == (.connectionRequired, "eth3"))
    #expect(try reason([]) == (.noRoute, nil))
    #expect(try reason([42]) == (.noRoute, nil))
  }

  @Test("An address behind the loopback device is local")
  func behindLoopback() throws {
    let path = try evaluate(.onLink("127.0.0.0/8", on: 1, source: "127.0.0.1"), "127.0.0.9")
    #expect(path.flags.isSuperset(of: [.reachable, .isLocalAddress]))
    // Addresses of other hosts are not, also with a blackhole route.
    #expect(try evaluate(.onLink("10.9.0.0/16", on: 1, source: "10.0.0.5"), "10.9.0.9") == .none(.noRoute))
  }

  @Test("An address is used when detection is over or may be skipped, and not when it failed")
  func addressUsability() throws {
    let rows: [(InterfaceAddress.Flags, Bool)] = [
      ([], true), (.tentative, false), (.dadFailed, false), ([.tentative, .optimistic], true),
      ([.tentative, .dadFailed], false), ([.tentative, .optimistic, .dadFailed], false), (.deprecated, true),
      (.optimistic, true),
    ]
    for (flags, usable) in rows {
      let address = InterfaceAddress(interfaceIndex: 2, prefix: try block("fd00::5/64"), flags: flags)
      #expect(address.isUsable == usable, "\(flags)")
    }
  }

  @Test("Tables find interfaces by index and name, in whatever order they were read")
  func readInAnyOrder() throws {
    let many = (0..<57).map { Interface.sample(UInt32($0 * 3 + 2), "dev\($0)") }.shuffled()
    let tables = KernelTables(interfaces: many)
    for interface in many {
      #expect(tables.interface(interface.index) == interface)
      #expect(tables.interface(interface.index + 1) == nil)
      #expect(tables.interface(named: interface.name) == interface)
    }
    #expect(tables.interface(0) == nil && tables.interface(.max) == nil && tables.interface(named: "") == nil)
    #expect(tables.interfaces.map(\.index) == many.map(\.index).sorted())
    #expect(KernelTables().interface(1) == nil)
  }

  @Test("Tables list an interface's usable addresses by value, and every owner of an address")
  func addresses() throws {
    var tentative = InterfaceAddress(interfaceIndex: 2, prefix: try block("fd00::1/64"))
    tentative.flags = .tentative
    let read = [
      InterfaceAddress(interfaceIndex: 3, prefix: try block("10.0.0.5/24")), tentative,
      InterfaceAddress(interfaceIndex: 2, prefix: try block("fd00::2/64")),
      InterfaceAddress(interfaceIndex: 2, prefix: try block("10.0.0.5/24")),
    ]
    let tables = KernelTables(interfaces: [.sample(2)], addresses: read)
    #expect(tables.usableAddresses(of: 2).map(\.prefix.description) == ["10.0.0.5/24", "fd00::2/64"])
    #expect(tables.owners(of: try ip("10.0.0.5")).map(\.interfaceIndex) == [2, 3])
    #expect(tables.owners(of: try ip("10.0.0.6")).isEmpty)
  }

  @Test("An interface that the kernel tells twice is kept once, as it was told last")
  func duplicates() {
    let tables = KernelTables(interfaces: [.sample(2, "old"), .sample(3, "eth1"), .sample(2, "new")])
    #expect(tables.interfaces.map(\.name) == ["new", "eth1"])
  }
}
