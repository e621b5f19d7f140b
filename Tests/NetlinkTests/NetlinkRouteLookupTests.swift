import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// Every row of what the kernel can answer, asked in a namespace of its own.
@Suite(.enabled(if: Namespace.isSupported)) struct NetlinkRouteLookupTests {
  let pair: VethPair
  let client: Namespace
  let queries: NetlinkQuerySocket
  let c0: UInt32

  init() throws {
    pair = try VethPair()
    client = pair.client
    queries = try client.run { () throws(KernelError) in try NetlinkQuerySocket() }
    c0 = try client.index(of: "c0")
  }

  func sendBatch(_ destination: String, from source: String? = nil, interface: UInt32? = nil) throws -> RouteAnswer {
    let query = RouteQuery(
      IPAddress(stringLiteral: destination), source: source.map(IPAddress.init(stringLiteral:)),
      interfaceIndex: interface)
    try queries.barrier()
    return try #require(try queries.lookUp([query])[query])
  }

  @Test func defaultRoutesHaveAllAttributes() throws {
    try pair.addDefaultRoutes()
    #expect(
      try sendBatch("192.0.2.1")
        == .route(
          Route(
            prefix: "0.0.0.0/0", metric: 100,
            hops: [.init(interfaceIndex: c0, gateway: "10.9.0.1")], source: "10.9.0.2")))
    #expect(
      try sendBatch("2001:db8::1")
        == .route(
          Route(
            prefix: "::/0", metric: 100,
            hops: [.init(interfaceIndex: c0, gateway: "fd09::1")], source: "fd09::2")))
  }

  @Test func connectedRoutesHaveNoGateway() throws {
    var connected = Route(prefix: "10.9.0.0/24", protocol: 2, hops: [.init(interfaceIndex: c0)], source: "10.9.0.2")
    connected.preferredSource = "10.9.0.2"
    #expect(try sendBatch("10.9.0.77") == .route(connected))
    let route = try #require(try sendBatch("fd09::77").route)
    #expect(route.prefix == "fd09::/64" && route.hops == [.init(interfaceIndex: c0)])
    #expect(route.source == "fd09::2")
  }

  @Test func rulesApplyToTheSelectedSource() throws {
    try pair.addDefaultRoutes()
    let query = RouteQuery("192.0.2.1")
    func asked() throws -> RouteAnswer? {
      try queries.barrier()
      return try queries.lookUp([query], rules: queries.ruleSelectors())[query]
    }
    #expect(try !queries.ruleSelectors().contains(.ipv4Source))
    let plain = try asked()
    #expect(plain?.route?.hops == [.init(interfaceIndex: c0, gateway: "10.9.0.1")])
    try client.ip("rule add from 10.9.0.2 lookup 100")
    #expect(try queries.ruleSelectors().contains(.ipv4Source))
    #expect(try asked() == plain, "a table without routes")
    try client.ip("route add default via 10.9.0.7 table 100")
    #expect(try asked()?.route?.hops == [.init(interfaceIndex: c0, gateway: "10.9.0.7")])
    #expect(try asked()?.route?.source == "10.9.0.2")
    try client.ip("route replace blackhole default table 100")
    #expect(try asked() == .refused(.blackhole))
    #expect(try sendBatch("192.0.2.1") == plain, "what a socket without a source is told")
  }

  @Test func sourceRoutesRespectTheNamedInterface() throws {
    try pair.addDefaultRoutes()
    try client.ip("link add v7 index 77 type veth peer name v8")
    for change in ["addr add fd77::2/64 dev v7 nodad", "link set v7 up", "link set v8 up"] { try client.ip(change) }
    let (v7, elsewhere) = (try client.index(of: "v7"), "2001:db8::1")
    #expect(try sendBatch(elsewhere, from: "fd77::2").route?.hops.first?.interfaceIndex == c0)
    #expect(try sendBatch(elsewhere, from: "fd77::2", interface: v7) == .refused(.noRoute))
    try client.ip("route add default via fd77::1 dev v7 metric 2000")
    let bound = try sendBatch(elsewhere, from: "fd77::2", interface: v7).route
    #expect(bound?.hops.first?.interfaceIndex == v7 && bound?.source == "fd77::2")
  }

  @Test func noRouteAtAll() throws {
    #expect(try sendBatch("192.0.2.1") == .refused(.noRoute))
    #expect(try sendBatch("2001:db8::1") == .refused(.noRoute))
  }

  @Test(arguments: [
    ("unreachable", RouteAnswer.Refusal.unreachable), ("blackhole", .blackhole), ("prohibit", .prohibited),
    ("throw", .noRoute),
  ])
  func routesThatRefuse(_ type: String, _ refusal: RouteAnswer.Refusal) throws {
    try client.ip("route add \(type) 198.51.100.0/24")
    try client.ip("-6 route add \(type) 2001:db8:1::/48")
    #expect(try sendBatch("198.51.100.1") == .refused(refusal))
    #expect(try sendBatch("2001:db8:1::1") == .refused(refusal))
  }

  @Test(arguments: [
    ("unreachable", RouteAnswer.Refusal.noRoute), ("blackhole", .blackhole), ("prohibit", .prohibited),
  ])
  func rulesThatRefuse(_ action: String, _ refusal: RouteAnswer.Refusal) throws {
    try pair.addDefaultRoutes()
    try client.ip("rule add to 198.51.100.0/24 \(action)")
    try client.ip("-6 rule add to 2001:db8:1::/48 \(action)")
    #expect(try sendBatch("198.51.100.1") == .refused(refusal))
    #expect(try sendBatch("2001:db8:1::1") == .refused(refusal))
    #expect(try sendBatch("198.51.101.1").route != nil)
  }

  @Test func ownAddressesHaveTheirRealDevice() throws {
    // Before the first rule is added, IPv4 keeps the tables local and main as one and calls it main.
    for (own, table) in [("10.9.0.2", UInt32(254)), ("fd09::2", 255)] {
      let route = try #require(try sendBatch(own).route)
      #expect(
        route.type == .local && route.table == table && route.source == IPAddress(stringLiteral: own),
        "\(own): \(route)")
      #expect(route.hops.map(\.interfaceIndex) == [c0])
    }
    let loopback = try #require(try sendBatch("127.0.0.1").route)
    #expect(loopback.type == .local && loopback.hops.map(\.interfaceIndex) == [1])
    // Weak host model: IPv4 answers for the address of a device that is switched off, IPv6 does not.
    try client.ip("link set c0 down")
    #expect(try sendBatch("10.9.0.2").route?.type == .local)
    #expect(try sendBatch("fd09::2") == .refused(.noRoute))
  }

  @Test func broadcastAndMulticastAreRoutes() throws {
    #expect(try sendBatch("10.9.0.255").route?.type == .broadcast)
    #expect(try sendBatch("ff02::1", interface: c0).route?.type == .multicast)
    // Bound to an interface, groups leave without a route.
    #expect(try sendBatch("224.0.0.251", interface: c0).route?.type == .multicast)
    #expect(try sendBatch("224.0.0.251") == .refused(.noRoute))
  }

  @Test func gatewayOfTheOtherFamily() throws {
    try client.ip("route add 203.0.113.0/24 via inet6 fd09::1 dev c0")
    let route = try #require(try sendBatch("203.0.113.7").route)
    #expect(route.hops == [.init(interfaceIndex: c0, gateway: "fd09::1")])
    #expect(route.prefix == "203.0.113.0/24" && route.source == "10.9.0.2")
  }

  @Test func allNexthopsOfMultipathAreReported() throws {
    try client.ip("link add d0 type veth peer name d1")
    try client.ip(batch: ["link set d0 up", "link set d1 up", "addr add 10.8.0.2/24 dev d0"])
    try client.ip("addr add fd08::2/64 dev d0 nodad")
    let d0 = try client.index(of: "d0")
    try client.ip("route add default nexthop via 10.9.0.1 dev c0 nexthop via 10.8.0.1 dev d0 weight 3")
    try client.ip("-6 route add default nexthop via fd09::1 dev c0 nexthop via fd08::1 dev d0")
    #expect(
      try sendBatch("192.0.2.1").route?.hops == [
        .init(interfaceIndex: c0, gateway: "10.9.0.1"),
        .init(interfaceIndex: d0, gateway: "10.8.0.1"),
      ])
    #expect(Set(try sendBatch("2001:db8::1").route?.hops.map(\.interfaceIndex) ?? []) == [c0, d0])
    try client.ip("link set d1 down")
    #expect(
      try eventually { try sendBatch("192.0.2.1").route?.hops.map(\.isLinkDown) == [false, true] })
  }

  @Test(arguments: [0, 1]) func nexthopObjects(compatible: Int) throws {
    try client.sysctl("net.ipv4.nexthop_compat_mode", compatible)
    try client.ip("nexthop add id 7 via 10.9.0.1 dev c0")
    try client.ip("nexthop add id 8 via fd09::1 dev c0")
    try client.ip("nexthop add id 9 group 7")
    try client.ip("nexthop add id 10 blackhole")
    try client.ip("nexthop add id 11 blackhole")
    try client.ip("route add 198.51.100.0/24 nhid 7")
    try client.ip("route add 198.51.101.0/24 nhid 9")
    try client.ip("-6 route add 2001:db8:1::/48 nhid 8")
    try client.ip("route add 198.51.102.0/24 nhid 10")
    for destination in ["198.51.100.1", "198.51.101.1"] {
      let route = try #require(try sendBatch(destination).route)
      #expect(route.hops == [.init(interfaceIndex: c0, gateway: "10.9.0.1")], "\(destination)")
      #expect(route.source == "10.9.0.2" && route.prefix.length == 24)
    }
    let route = try #require(try sendBatch("2001:db8:1::1").route)
    #expect(route.hops == [.init(interfaceIndex: c0, gateway: "fd09::1")])
    #expect(try sendBatch("198.51.102.1") == .refused(.blackhole))
    try client.ip("nexthop del id 7")
    #expect(try sendBatch("198.51.100.1") == .refused(.noRoute))
  }

  @Test func carrierLossShowsOnTheMatch() throws {
    try pair.addDefaultRoutes()
    try pair.router.ip("link set r0 down")
    #expect(try eventually { try sendBatch("192.0.2.1").route?.hops.first?.isLinkDown == true })
    #expect(try eventually { try sendBatch("2001:db8::1").route?.hops.first?.isLinkDown == true })
    try client.sysctl("net.ipv4.conf.c0.ignore_routes_with_linkdown", 1)
    try client.sysctl("net.ipv6.conf.c0.ignore_routes_with_linkdown", 1)
    #expect(try sendBatch("192.0.2.1") == .refused(.noRoute))
    #expect(try sendBatch("2001:db8::1") == .refused(.noRoute))
  }

  @Test func defaultInAPolicyTableOnly() throws {
    try client.ip("route add default via 10.9.0.1 dev c0 table 100")
    try client.ip("rule add to 0.0.0.0/0 lookup 100 priority 1000")
    let route = try #require(try sendBatch("192.0.2.1").route)
    #expect(route.table == 100 && route.prefix.length == 0)
  }

  @Test func tableNumbersAboveOneByte() throws {
    try client.ip("route add default via 10.9.0.1 dev c0 table 70000")
    try client.ip("rule add to 0.0.0.0/0 lookup 70000 priority 1000")
    #expect(try sendBatch("192.0.2.1").route?.table == 70000)
  }

  @Test func splitDefault() throws {
    try client.ip("route add 0.0.0.0/1 via 10.9.0.1 dev c0")
    #expect(try sendBatch("8.8.8.8").route?.prefix == "0.0.0.0/1")
    #expect(try sendBatch("192.0.2.1") == .refused(.noRoute))
    try client.ip("route add 128.0.0.0/1 via 10.9.0.1 dev c0")
    #expect(try sendBatch("192.0.2.1").route?.prefix == "128.0.0.0/1")
  }

  @Test func boundToAnInterface() throws {
    try client.ip("link add d0 type veth peer name d1")
    try client.ip(batch: ["link set d0 up", "link set d1 up", "addr add 10.8.0.2/24 dev d0"])
    let d0 = try client.index(of: "d0")
    try pair.addDefaultRoutes()
    let own = try #require(try sendBatch("192.0.2.1", interface: c0).route)
    #expect(own.hops.map(\.interfaceIndex) == [c0] && !own.isAssumed)
    // The kernel assumes that everything is on the link to which an IPv4 socket is bound.
    let assumed = try #require(try sendBatch("192.0.2.1", interface: d0).route)
    #expect(assumed.isAssumed && assumed.hops == [.init(interfaceIndex: d0)] && assumed.source == "10.8.0.2")
    try client.ip("route add prohibit 192.0.2.0/24")
    #expect(try sendBatch("192.0.2.1", interface: d0).route?.isAssumed == true)
    #expect(try sendBatch("2001:db8::1", interface: d0) == .refused(.noRoute))
    #expect(try sendBatch("10.8.0.1", interface: d0).route?.prefix == "10.8.0.0/24")
    #expect(try sendBatch("fe80::1", interface: c0).route?.hops.map(\.interfaceIndex) == [c0])
    #expect(try sendBatch("192.0.2.1", interface: 4711) == .refused(.noRoute))
    #expect(try sendBatch("2001:db8::1", interface: 4711) == .refused(.noRoute))
  }

  @Test func sourceAddressesChooseRules() throws {
    try client.ip("addr add 10.9.0.3/24 dev c0")
    try client.ip("route add 198.51.100.0/24 via 10.9.0.1 dev c0 table 100")
    try client.ip("rule add from 10.9.0.3 lookup 100")
    #expect(try sendBatch("198.51.100.1") == .refused(.noRoute))
    #expect(try sendBatch("198.51.100.1", from: "10.9.0.2") == .refused(.noRoute))
    let route = try #require(try sendBatch("198.51.100.1", from: "10.9.0.3").route)
    #expect(route.table == 100 && route.source == "10.9.0.3")
    // Not ours; the kernel checks that for IPv4 only.
    #expect(try sendBatch("198.51.100.1", from: "192.0.2.9") == .refused(.noRoute))
    #expect(try sendBatch("198.51.100.1", from: "fd09::2") == .refused(.failed(errno: 97)))
  }

  @Test func lifetimes() throws {
    try client.ip("-6 route add 2001:db8:1::/48 via fd09::1 dev c0 expires 5")
    let left = try #require(try sendBatch("2001:db8:1::1").route?.expiresIn)
    #expect(left > .seconds(1) && left <= .milliseconds(5020))
    #expect(try sendBatch("fd09::1").route?.expiresIn == nil)
    try client.ip("-6 route add 2001:db8:2::/48 via fd09::1 dev c0 expires 1")
    #expect(try eventually { try sendBatch("2001:db8:2::1") == .refused(.noRoute) })
  }

  @Test func manyQueriesInOneCall() throws {
    try pair.addDefaultRoutes()
    let some = (0..<1000).map { RouteQuery(IPAddress(ipv4: 0xc000_0200 + $0)) }
    let answers = try queries.lookUp(some + some.prefix(10))
    #expect(answers.count == 1000)
    #expect(answers.values.allSatisfy { $0.route?.prefix.length == 0 })
    #expect(try queries.lookUp([]).isEmpty)
  }

  @Test func tablesHoldLinksAndAddresses() throws {
    let links = try queries.links().values
    #expect(links.map(\.interface.name).sorted() == ["c0", "lo"])
    let veth = try #require(links.first { $0.interface.name == "c0" })
    #expect(veth.interface.kind == "veth" && veth.interface.mtu == 1500 && veth.interface.hardwareType == 1)
    // Its peer's index belongs to another namespace and would name something else here.
    #expect(veth.interface.lowerIndex == nil && veth.interface.usability == .usable)
    let own = try queries.addresses().map(\.prefix)
    #expect(Set(own).isSuperset(of: ["10.9.0.2/24", "fd09::2/64", "127.0.0.1/8"]))
  }

  @Test func pointToPointAddressHasItsLocalEnd() throws {
    try client.ip("addr add 10.7.0.1 peer 10.7.0.2/32 dev c0")
    #expect(try queries.addresses().contains { $0.address == "10.7.0.1" })
    #expect(try queries.addresses().allSatisfy { $0.address != "10.7.0.2" })
  }

  @Test func largeDumpIsComplete() throws {
    try client.ip(batch: (1...600).map { "addr add 10.66.\($0 / 250).\($0 % 250 + 1)/32 dev c0" })
    #expect(try queries.addresses().filter { $0.prefix.length == 32 }.count == 600)
  }
}
