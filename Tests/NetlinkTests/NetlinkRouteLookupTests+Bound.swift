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
}
