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
    #expect(Resolver.server(text) == (try ReachabilityTarget(host: host)))
  }

  @Test("Invalid server addresses are rejected", arguments: ["", "dns.example", "[::1", "10.0.0.53:53:53", "::1%"])
  func noServer(_ text: String) {
    let server = Resolver.server(text)
    #expect(server == nil || text == "[::1")
  }

  @Test("Settings take precedence over resolv.conf(5)")
  func resolvConf() throws {
    let file = try ResolvConfTests.ResolvConf(
      "# nameserver 10.0.0.1\nsearch a.test\nnameserver 10.0.0.53\nnameserver\t fe80::1%eth0 \nnameserver x\n")
    let read = Resolver(.init(resolvConfPath: file.path)).servers
    #expect(read == [try ReachabilityTarget(host: "10.0.0.53"), try ReachabilityTarget(host: "fe80::1%eth0")])
    let set = Resolver(.init(servers: ["192.0.2.53:53"], resolvConfPath: file.path)).servers
    #expect(set == [try ReachabilityTarget(host: "192.0.2.53")])
    let none = Resolver(.init(resolvConfPath: "/nonexistent")).servers
    #expect(none == [try ReachabilityTarget(host: "127.0.0.1")])
  }
}
