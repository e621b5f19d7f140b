import ReachabilityModel
import Testing

@testable import HostResolver

/// Where the name servers are, for those who want to know whether a way leads there.
@Suite struct NameServerListTests {
  @Test(
    "Server addresses with and without ports",
    arguments: [
      ("10.0.0.53", "10.0.0.53"), ("10.0.0.53:5353", "10.0.0.53"), ("::1", "::1"), ("[::1]:53", "::1"),
      ("fe80::1%eth0", "fe80::1%eth0"), ("[fe80::1%eth0]:53", "fe80::1%eth0"),
    ])
  func server(_ text: String, _ host: String) throws {
    let port: UInt16 = text.hasSuffix(":5353") ? 5353 : 53
    #expect(NameServerList.server(text) == (try server(host, port)))
  }

  private func server(
    _ host: String, _ port: UInt16 = 53, _ number: TransportSelector.TransportProtocol = .udp
  ) throws -> ReachabilityTarget {
    var target = try ReachabilityTarget(host: host)
    target.transport = TransportSelector(number, port: port)
    return target
  }

  @Test("Invalid server addresses are rejected", arguments: ["", "dns.example", "[::1", "10.0.0.53:53:53", "::1%"])
  func noServer(_ text: String) {
    let server = NameServerList.server(text)
    #expect(server == nil || text == "[::1")
  }

  @Test("Settings take precedence over resolv.conf(5)")
  func resolvConf() throws {
    let file = try ResolvConfTests.ResolvConf(
      "# nameserver 10.0.0.1\nsearch a.test\nnameserver 10.0.0.53\nnameserver\t fe80::1%eth0 \nnameserver x\n")
    let read = Resolver(.init(resolvConfPath: file.path)).servers
    #expect(read == [try server("10.0.0.53"), try server("fe80::1%eth0")])
    let set = Resolver(.init(servers: ["192.0.2.53:53"], resolvConfPath: file.path)).servers
    #expect(set == [try server("192.0.2.53")])
    let none = Resolver(.init(resolvConfPath: "/nonexistent")).servers
    #expect(none == [try server("127.0.0.1")])
  }

  @Test("With use-vc, the route is that of TCP")
  func useVC() throws {
    let file = try ResolvConfTests.ResolvConf("nameserver 10.0.0.53\noptions ndots:2 use-vc\n")
    #expect(Resolver(.init(resolvConfPath: file.path)).servers == [try server("10.0.0.53", 53, .tcp)])
  }

  @Test("Zones are kept apart for a c-ares that does not read them")
  func zones() {
    for (text, bare) in [
      ("fe80::53%lo", "fe80::53"), ("[fe80::53%lo]:5353", "[fe80::53]:5353"), ("10.0.0.53:53", "10.0.0.53:53"),
      ("::1", "::1"),
    ] { #expect(NameServerList.withoutZone(text) == bare) }
    let servers = ["fe80::53%lo", "[fe80::54%1]:53", "fe80::55%nosuch0", "10.0.0.53"]
    let zones = NameServerList.zones(of: servers)
    #expect(zones.values.sorted() == [1, 1] && zones.keys.allSatisfy { $0.count == 16 })
  }
}
