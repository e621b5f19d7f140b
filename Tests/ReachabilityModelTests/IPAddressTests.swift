import ReachabilityModel
import Testing

@Suite("IP addresses and blocks as values")
struct IPAddressTests {
  @Test("Families carry Linux's numbers and their lengths")
  func families() {
    #expect(IPAddress.Family.ipv4.rawValue == 2)
    #expect(IPAddress.Family.ipv6.rawValue == 10)
    #expect(IPAddress.Family.ipv4.bitCount == 32)
    #expect(IPAddress.Family.ipv6.bitCount == 128)
  }

  @Test("Octets come in network order, and only 4 or 16 of them make an address")
  func octets() throws {
    #expect(try ip("1.2.3.4").octets == [1, 2, 3, 4])
    #expect(try ip("102:304:506:708:90a:b0c:d0e:f10").octets == Array(1...16))
    for count in 0...40 {
      let address = IPAddress(octets: [UInt8](repeating: 0xff, count: count))
      #expect((address != nil) == (count == 4 || count == 16), "\(count) octets")
    }
    #expect(try IPAddress(octets: [1, 2, 3, 4, 5][1...]) == ip("2.3.4.5"))
    for octet in 0...UInt32(255) {
      #expect(IPAddress(ipv4: octet * 0x0101_0101).description == "\(octet).\(octet).\(octet).\(octet)")
    }
  }

  @Test(
    "E4-4 an IPv4-mapped address unmaps to the IPv4 address inside it, any other to itself",
    arguments: [
      ("::ffff:10.0.0.1", "10.0.0.1"), ("::ffff:0.0.0.0", "0.0.0.0"), ("10.0.0.1", "10.0.0.1"),
      ("::10.0.0.1", "::a00:1"),
      ("1::ffff:10.0.0.1", "1::ffff:a00:1"), ("::1:ffff:a00:1", "::1:ffff:a00:1"),
    ])
  func unmapped(_ text: String, _ expected: String) throws {
    #expect(try ip(text).unmapped.description == expected)
  }

  @Test("An address is what its number says")
  func classes() throws {
    let rows: [(String, unspecified: Bool, loopback: Bool, linkLocal: Bool, multicast: Bool, onLink: Bool)] = [
      ("0.0.0.0", true, false, false, false, false), ("::", true, false, false, false, false),
      ("0.0.0.1", false, false, false, false, false), ("127.0.0.1", false, true, false, false, false),
      ("127.255.255.255", false, true, false, false, false), ("128.0.0.1", false, false, false, false, false),
      ("::1", false, true, false, false, false), ("::2", false, false, false, false, false),
      ("169.254.0.0", false, false, true, false, false), ("169.255.0.0", false, false, false, false, false),
      ("fe80::1", false, false, true, false, false), ("febf:ffff::", false, false, true, false, false),
      ("fec0::1", false, false, false, false, false), ("fe7f::1", false, false, false, false, false),
      ("224.0.0.1", false, false, false, true, false), ("239.255.255.255", false, false, false, true, false),
      ("240.0.0.0", false, false, false, false, false), ("ff02::1", false, false, false, true, true),
      ("ff01::1", false, false, false, true, true), ("ff12::1", false, false, false, true, true),
      ("ff05::1", false, false, false, true, false), ("ff0e::1", false, false, false, true, false),
      ("fd00::1", false, false, false, false, false),
    ]
    for row in rows {
      let address = try ip(row.0)
      #expect(address.isUnspecified == row.unspecified, "\(row.0)")
      #expect(address.isLoopback == row.loopback, "\(row.0)")
      #expect(address.isLinkLocal == row.linkLocal, "\(row.0)")
      #expect(address.isMulticast == row.multicast, "\(row.0)")
      #expect(address.isLinkLocalMulticast == row.onLink, "\(row.0)")
    }
  }

  @Test("IPv4 sorts before IPv6, each by value")
  func order() throws {
    let sorted = ["0.0.0.0", "10.0.0.9", "10.0.0.10", "255.255.255.255", "::", "::1", "1::", "fe80::1", "ff02::1"]
    #expect(try sorted.reversed().map { try ip($0) }.sorted().map(\.description) == sorted)
  }

  @Test("A block's length is cut to the family's")
  func prefixLength() throws {
    #expect(try IPPrefix(ip("10.0.0.1"), length: 33).description == "10.0.0.1/32")
    #expect(try IPPrefix(ip("10.0.0.0"), length: 0).description == "10.0.0.0/0")
    #expect(try IPPrefix(ip("fe80::"), length: 64).description == "fe80::/64")
    #expect(try IPPrefix(ip("fe80::1"), length: 255).description == "fe80::1/128")
  }
}
