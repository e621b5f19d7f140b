import ReachabilityModel
import Testing

@Suite("Whom a caller may have us contact")
struct ContactPolicyTests {
  private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  private func prefix(_ text: String) throws -> IPPrefix {
    let parts = text.split(separator: "/")
    return IPPrefix(try address(String(parts[0])), length: try #require(UInt8(parts[1])))
  }

  static let special = [
    "0.0.0.0", "0.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.0.1",
    "169.254.169.254", "192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
    "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "100.100.100.200", "168.63.129.16",
    "::", "::1", "::2", "::7f00:1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b::100.64.0.1", "64:ff9b:1::8.8.8.8", "100::1",
    "2001::1", "2001:0:7f00:1::1", "2001:0:4136:e378:8000:63bf:80ff:fffe", "2001:db8::1", "2002:7f00:1::1",
    "2002:a9fe:a9fe::1", "2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:169.254.169.254", "3fff::1", "5f00::1",
    "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42", "fd00:c1::a9fe:a9fe", "fe80::1", "febf::1",
    "fec0::1", "ff02::1", "ff0e::1", "4000::1", "e000::1",
  ]

  static let ordinary = [
    "1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "126.255.255.255", "128.0.0.1", "168.63.129.17",
    "169.253.255.255", "172.15.255.255", "172.32.0.1", "192.0.1.1", "192.169.0.1", "198.17.255.255", "198.20.0.1",
    "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "2001:4860:4860::8888", "64:ff9b::8.8.8.8", "2002:808:808::1",
    "::ffff:8.8.8.8", "2606:4700::5efe:8.8.8.8",
  ]

  static let privateOnes = [
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255", "fc00::1",
    "fd12:3456::1", "64:ff9b::10.0.0.1", "2002:a00:1::1", "::ffff:192.168.1.1",
  ]

  @Test("What is special is denied in either profile", arguments: special)
  func deniedByNumber(text: String) throws {
    let address = try address(text)
    #expect(!ContactPolicy().allows(address, port: 80))
    #expect(!ContactPolicy().allows(address, port: nil))
    #expect(!ContactPolicy(profile: .strict).allows(address, port: 80))
  }

  @Test("Everything else is allowed in either profile", arguments: ordinary)
  func allowed(text: String) throws {
    let address = try address(text)
    #expect(ContactPolicy().allows(address, port: 80))
    #expect(ContactPolicy(profile: .strict).allows(address, port: nil))
  }

  @Test("Private networks are what people monitor; the strict profile denies them", arguments: privateOnes)
  func privateNetworks(text: String) throws {
    let address = try address(text)
    #expect(ContactPolicy().allows(address, port: 80))
    #expect(!ContactPolicy(profile: .strict).allows(address, port: 80))
  }

  @Test("A list allows what is special, and in the strict profile what is private")
  func allowList() throws {
    let policy = ContactPolicy(profile: .strict, allow: [try prefix("127.0.0.0/8"), try prefix("10.1.0.0/16")])
    #expect(policy.allows(try address("127.0.0.1"), port: 80))
    #expect(policy.allows(try address("::ffff:127.0.0.1"), port: 80))
    #expect(policy.allows(try address("10.1.2.3"), port: 80))
    #expect(!policy.allows(try address("10.2.0.1"), port: 80))
    #expect(!policy.allows(try address("::1"), port: 80))
  }

  @Test(
    "No block that is larger opens an address with a cloud's secrets",
    arguments: ["169.254.169.254", "169.254.170.2", "169.254.170.23", "192.0.0.192", "fd20:ce::254", "fe80::a9fe:a9fe"])
  func metadataByItsOwnAddressOnly(text: String) throws {
    let blocks = ["169.254.0.0/16", "192.0.0.0/24", "fc00::/7", "fe80::/10"]
    #expect(!ContactPolicy(allow: try blocks.map(prefix)).allows(try address(text), port: 80))
    let own = IPPrefix(try address(text), length: try address(text).family.bitCount)
    #expect(ContactPolicy(allow: [own]).allows(try address(text), port: 80))
  }

  @Test("An allowed IPv6 block does not allow what it wraps")
  func wrapped() throws {
    let policy = ContactPolicy(allow: [try prefix("64:ff9b::/96"), try prefix("2002::/16"), try prefix("2001::/32")])
    #expect(!policy.allows(try address("64:ff9b::127.0.0.1"), port: 80))
    #expect(!policy.allows(try address("2002:7f00:1::"), port: 80))
    #expect(!policy.allows(try address("2001:0:808:808:0:0:80ff:fffe"), port: 80), "its client is 127.0.0.1")
    #expect(policy.allows(try address("2001:0:808:808:0:0:f7f7:f7f7"), port: 80), "its client is 8.8.8.8")
  }

  @Test("A denial wins over what is allowed")
  func denyList() throws {
    let policy = ContactPolicy(
      allow: [try prefix("10.0.0.0/8")], deny: [try prefix("10.1.0.0/16"), try prefix("8.0.0.0/8")])
    #expect(policy.allows(try address("10.2.0.1"), port: 80))
    #expect(!policy.allows(try address("10.1.0.1"), port: 80))
    #expect(!policy.allows(try address("8.8.8.8"), port: 80))
    #expect(!policy.allows(try address("64:ff9b::8.8.8.8"), port: 80))
  }

  @Test(
    "No block opens a cloud's metadata but one that is just that address",
    arguments: ["169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254"])
  func metadata(text: String) throws {
    let address = try address(text)
    let everything = [try prefix("0.0.0.0/0"), try prefix("::/0")]
    #expect(!ContactPolicy(allow: everything).allows(address, port: 80))
    let almost = IPPrefix(address, length: address.family.bitCount - 1)
    #expect(!ContactPolicy(allow: [almost]).allows(address, port: 80))
    let exactly = IPPrefix(address, length: address.family.bitCount)
    #expect(ContactPolicy(allow: [exactly]).allows(address, port: 80))
    #expect(!ContactPolicy(allow: [exactly], deny: everything).allows(address, port: 80))
  }

  @Test("Our own addresses are denied unless allowed, and our own ports always")
  func own() throws {
    let own = try address("10.0.0.5")
    let mapped = try address("::ffff:10.0.0.5")
    var policy = ContactPolicy(own: [own], ownPorts: [8080])
    #expect(!policy.allows(own, port: 22))
    #expect(!policy.allows(mapped, port: 22))
    #expect(policy.allows(try address("10.0.0.6"), port: 8080), "another machine's port of that number is not ours")
    policy.allow = [try prefix("0.0.0.0/0"), try prefix("::/0")]
    #expect(policy.allows(own, port: 22))
    #expect(!policy.allows(own, port: 8080))
    #expect(!policy.allows(mapped, port: 8080))
    #expect(!policy.allows(try address("127.0.0.9"), port: 8080))
    #expect(!policy.allows(try address("::1"), port: 8080))
    #expect(!policy.allows(try address("0.0.0.0"), port: 8080))
    #expect(policy.allows(own, port: nil))
  }

  @Test(
    "A block covers what its bits say",
    arguments: [
      ("0.0.0.0/0", "255.0.0.1", true), ("0.0.0.0/0", "::1", false), ("::/0", "::1", true), ("::/0", "1.2.3.4", false),
      ("10.0.0.0/9", "10.127.0.1", true), ("10.0.0.0/9", "10.128.0.1", false), ("1.2.3.4/32", "1.2.3.4", true),
      ("1.2.3.4/32", "1.2.3.5", false), ("2001:db8::/33", "2001:db8:7fff::", true),
      ("2001:db8::/33", "2001:db8:8000::", false), ("2001:db8::/64", "2001:db8::ffff:0:0:1", true),
      ("2001:db8::/64", "2001:db8:0:1::", false), ("2001:db8::/65", "2001:db8::7fff:0:0:1", true),
      ("2001:db8::/65", "2001:db8::8000:0:0:1", false), ("::1/128", "::1", true), ("::1/128", "::2", false),
    ])
  func blocks(block: String, text: String, covers: Bool) throws {
    #expect(try prefix(block).contains(address(text)) == covers)
  }
}
