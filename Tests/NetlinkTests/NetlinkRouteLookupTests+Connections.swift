import Glibc
import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// Where connect(2) looks twice, our answer is what it comes to: compared with real sockets, which send nothing (UDP).
extension NetlinkRouteLookupTests {
  private func connection(_ destination: String, from source: String? = nil) throws -> RouteAnswer {
    let query = RouteQuery(
      IPAddress(stringLiteral: destination), source: source.map(IPAddress.init(stringLiteral:)))
    try queries.barrier()
    return try #require(try queries.lookUp([query], rules: queries.ruleSelectors())[query])
  }

  /// The source of a connected socket; nil when connect(2) refuses.
  private func socketSource(_ destination: String) throws -> IPAddress? {
    guard case .source(let source) = try client.connect(to: destination) else { return nil }
    return IPAddress(source)
  }

  /// A second wire, `d0` with 10.8.0.2/24 and fd08::2/64.
  private func addWire() throws -> UInt32 {
    try client.ip("link add d0 type veth peer name d1")
    try client.ip(batch: ["link set d0 up", "link set d1 up", "addr add 10.8.0.2/24 dev d0"])
    try client.ip("addr add fd08::2/64 dev d0 nodad")
    return try client.index(of: "d0")
  }

  @Test func ipv6RoutesFromAPrefixCarryConnections() throws {
    #expect(try connection("2001:db8::1") == .refused(.noRoute))
    try client.ip("-6 route add default from fd09::/64 via fd09::1 dev c0")
    #expect(try socketSource("2001:db8::1") == "fd09::2")
    let route = try #require(try connection("2001:db8::1").route)
    #expect(route.source == "fd09::2" && route.hops == [.init(interfaceIndex: c0, gateway: "fd09::1")])
    // A packet without a source has no way.
    #expect(try sendBatch("2001:db8::1") == .refused(.noRoute))
  }

  @Test(arguments: [nil, "unreachable default metric 4096"])
  func ipv6RulesFromAPrefixCarryConnections(main: String?) throws {
    if let main { try client.ip("-6 route add \(main)") }
    try client.ip("-6 route add default via fd09::1 dev c0 table 100")
    try client.ip("-6 rule add from fd09::/64 lookup 100")
    #expect(try connection("2001:db8::1").route?.source == "fd09::2")
    try client.ip("-6 route replace prohibit default table 100")
    #expect(try connection("2001:db8::1").route == nil)
  }

  @Test func earlierLookupsDoNotDetermineTheSource() throws {
    _ = try addWire()
    try client.ip("-6 route add 2001:db8:9::/48 from fd09::/64 via fd09::1 dev c0")
    try client.ip("-6 route add fd08:1::/48 from fd08::/64 via fd08::1 dev d0")
    for _ in 0..<2 {
      for destination in ["2001:db8:9::1", "fd08:1::1"] {
        let source = try socketSource(destination)
        #expect(try connection(destination).route?.source == source, "\(destination)")
      }
    }
  }

  @Test func multipathChoosesTheNexthopOfTheSource() throws {
    let d0 = try addWire()
    try client.ip("addr add 10.99.0.1/32 dev lo")
    try client.ip("route add default src 10.99.0.1 nexthop via 10.9.0.1 dev c0 nexthop via 10.8.0.1 dev d0")
    for number in 1...60 {
      let route = try #require(try connection("20.0.0.\(number)").route)
      let shown = try client.ip("route get 20.0.0.\(number) from 10.99.0.1")
      let taken = route.hops[route.taken].interfaceIndex == d0 ? "d0" : "c0"
      #expect(shown.contains("dev \(taken) "), "\(shown)")
      #expect(route.source == "10.99.0.1" && route.preferredSource == "10.99.0.1")
    }
  }

  @Test func ipv6MultipathMatchesConnections() throws {
    let d0 = try addWire()
    try client.ip("-6 route add 2001:db8:e::/48 nexthop via fd09::1 dev c0 nexthop via fd08::1 dev d0")
    for number in 1...60 {
      let route = try #require(try connection("2001:db8:e::\(number)").route)
      let shown = try client.ip("-6 route get 2001:db8:e::\(number) ipproto tcp")
      let taken = route.hops[route.taken].interfaceIndex == d0 ? "d0" : "c0"
      #expect(shown.contains("dev \(taken) "), "\(shown)")
    }
  }

  @Test func multicastLeavesByTheInterfaceOfItsSource() throws {
    try pair.addDefaultRoutes()
    func type(_ destination: String, from source: String? = nil) throws -> RouteType? {
      let route = try connection(destination, from: source).route
      #expect(route?.source == "10.9.0.2")
      return route?.type
    }
    #expect(try type("224.0.0.5") == .multicast)
    #expect(try type("224.0.0.5", from: "10.9.0.2") == .multicast)
    #expect(try type("255.255.255.255", from: "10.9.0.2") == .broadcast)
    try client.ip("rule add from 10.55.0.0/24 lookup 100")
    #expect(try type("224.0.0.5") == .multicast)
  }
}
