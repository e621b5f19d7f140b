import Glibc
import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// Lookups for one interface, and refusals, compared with sockets that connect.
extension NetlinkRouteLookupTests {
  private func look(_ destination: String, from source: String? = nil, on interface: String? = nil) throws
    -> RouteAnswer
  {
    let query = RouteQuery(
      IPAddress(stringLiteral: destination), source: source.map(IPAddress.init(stringLiteral:)),
      interfaceIndex: try interface.map { try client.index(of: $0) })
    try queries.barrier()
    return try #require(try queries.lookUp([query], rules: queries.ruleSelectors())[query])
  }

  private func addWire() throws {
    try client.ip("link add d0 type veth peer name d1")
    try client.ip(batch: ["link set d0 up", "link set d1 up", "addr add 10.8.0.2/24 dev d0"])
    try client.ip("addr add fd08::2/64 dev d0 nodad")
  }

  @Test func boundIPv6LookupsUseSourceSpecificRoutes() throws {
    try addWire()
    try client.ip("-6 route add default from fd09::/64 via fd09::1 dev c0")
    for (interface, from) in [("c0", nil), ("c0", "fd09::2"), ("d0", nil), ("d0", "fd08::2")] {
      let attempt = try client.connect(to: "2001:db8::1", from: from, interface: interface)
      let route = try look("2001:db8::1", from: from, on: interface).route
      #expect((route != nil) == attempt.isPossible, "\(interface) \(from ?? "any"): \(attempt)")
      guard case .source(let source) = attempt else { continue }
      #expect(route?.source == IPAddress(source) && route?.hops.first?.gateway == "fd09::1")
    }
    #expect(try look("2001:db8::1", on: "c0").route != nil)
  }

  @Test func boundIPv6LookupsWithASourceUseItsRoute() throws {
    try client.ip("-6 route add default via fd09::1 dev c0")
    try client.ip("-6 route add default from fd09::2/128 via fd09::7 dev c0")
    #expect(try look("2001:db8::1", from: "fd09::2").route?.hops.first?.gateway == "fd09::7")
    #expect(try look("2001:db8::1", from: "fd09::2", on: "c0").route?.hops.first?.gateway == "fd09::7")
    // Without a source, the first route is found, and a connection looks up no second one.
    #expect(try look("2001:db8::1", on: "c0").route?.hops.first?.gateway == "fd09::1")
  }

  @Test(arguments: [
    ("prohibit", RouteAnswer.Refusal.prohibited, EACCES), ("blackhole", .blackhole, EINVAL),
    ("unreachable", .noRoute, ENETUNREACH),
  ])
  func theRefusalOfTheSecondLookupCounts(action: String, refusal: RouteAnswer.Refusal, code: Int32) throws {
    try client.ip("-6 rule add from fd09::/64 to 2001:db8:1::/48 \(action)")
    #expect(try client.connect(to: "2001:db8:1::1") == .refused(code))
    #expect(try look("2001:db8:1::1") == .refused(refusal))
    // The first lookup finds this route; a connection looks no further.
    try client.ip("-6 route add 2001:db8:1::/48 via fd09::1 dev c0")
    let attempt = try client.connect(to: "2001:db8:1::1")
    #expect(try (look("2001:db8:1::1").route != nil) == attempt.isPossible)
  }

  @Test(arguments: ["unreachable", "prohibit", "blackhole"])
  func boundConnectionsPassOverRoutesThatReject(type: String) throws {
    try client.ip("-6 route add default via fd09::1 dev c0")
    try client.ip("-6 route add \(type) 2001:db8:5::/48")
    let attempt = try client.connect(to: "2001:db8:5::1", from: "fd09::2", interface: "c0")
    #expect(attempt == .source("fd09::2"))
    #expect(try look("2001:db8:5::1", from: "fd09::2", on: "c0").route?.hops.first?.gateway == "fd09::1")
    #expect(try look("2001:db8:5::1", from: "fd09::2").route == nil)
  }

  @Test func multicastRouteHasItsBlock() throws {
    try client.ip("route add multicast 198.18.0.0/16 dev c0")
    let route = try look("198.18.0.7").route
    #expect(route?.type == .multicast && route?.prefix == "198.18.0.0/16")
  }

  @Test func aRefusalThatConnectionsDoNotHaveStaysTheFirst() throws {
    // No address to send from: connect(2) says EADDRNOTAVAIL, which is no fact about routes.
    try client.ip("-6 addr flush dev c0")
    #expect(try look("2001:db8::1") == .refused(.noRoute))
    #expect(try look("fe80::1").route == nil)
  }

  /// With the layer-4 hash each connection has another leg, so that one with a carrier counts; with other hashes it does not.
  @Test(arguments: [0, 1]) func multipathLegWithoutCarrier(policy: Int) throws {
    try client.sysctl("net.ipv4.fib_multipath_hash_policy", policy)
    try client.sysctl("net.ipv6.fib_multipath_hash_policy", policy)
    try addWire()
    try client.ip("route add 20.0.0.0/8 nexthop via 10.9.0.1 dev c0 nexthop via 10.8.0.1 dev d0")
    try client.ip("-6 route add 2001:db8:e::/48 nexthop via fd09::1 dev c0 nexthop via fd08::1 dev d0")
    try client.ip("link set d1 down")
    #expect(try eventually { try look("10.8.0.1").route?.hops.first?.isLinkDown == true })
    func legs(_ prefix: String) throws -> [Bool] {
      try (1...40).map { number in
        let route = try #require(try look("\(prefix)\(number)").route)
        return route.hops[route.taken].isLinkDown
      }
    }
    #expect(try legs("2001:db8:e::").contains(true) == (policy == 0))
    // Recent kernels keep an IPv4 connection at the leg of the source that the first lookup has found, whatever the ports.
    for (number, isDown) in try legs("20.0.0.").enumerated() where isDown {
      let route = try #require(try look("20.0.0.\(number + 1)").route)
      let source = try #require(route.source)
      for port in Limits.multipathPorts {
        let shown = try client.ip("route get 20.0.0.\(number + 1) from \(source) ipproto tcp sport \(port)")
        #expect(shown.contains("dev d0"), "\(shown)")
      }
    }
  }

  /// connect(2) looks for a source among the routes of type local in the table of that name only.
  @Test func localBlocksOfOtherTables() throws {
    for (table, block) in [("local", "10.60.0.0/16"), ("100", "10.61.0.0/16"), ("main", "10.62.0.0/16")] {
      try client.ip("route add local \(block) dev lo table \(table)")
    }
    try client.ip("route add local 10.63.0.0/16 dev lo table 100 src 10.9.0.2")
    try client.ip("rule add lookup 100 pref 100")
    for destination in ["10.60.1.1", "10.61.1.1", "10.62.1.1", "10.63.1.1"] {
      let attempt = try client.connect(to: destination)
      let answer = try look(destination)
      #expect((answer.route?.type == .local) == attempt.isPossible, "\(destination): \(attempt), \(answer)")
    }
    #expect(try look("10.60.1.1").route?.type == .local && look("10.61.1.1") == .refused(.noRoute))
  }
}
