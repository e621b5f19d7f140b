extension ContactPolicy {
  /// Whether this caller may make the service send anything to `address`.
  ///
  /// The rules apply in this order: the service's own ports, ``deny``, ``allow``, and the address's class. An IPv6
  /// address that embeds an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP) must pass in both forms.
  ///
  /// - Parameters:
  ///   - address: the destination of the packet.
  ///   - port: the destination port; nil where there is none, as with ICMP.
  /// - Returns: whether it may be contacted.
  public func allows(_ address: IPAddress, port: UInt16?) -> Bool {
    let faces = [address.unmapped] + address.embeddedIPv4
    if let port, ownPorts.contains(port), faces.contains(where: isLocal) { return false }
    return faces.allSatisfy(allows)
  }

  /// Whether this caller may make the service send to an address that routes to this machine or to a broadcast.
  ///
  /// Such an address counts as one of this machine's, even if no interface has it.
  ///
  /// - Parameters:
  ///   - address: the destination of the packet, by a route of type `local`, `anycast` or `broadcast`.
  ///   - port: the destination port; nil where there is none.
  /// - Returns: whether it may be contacted.
  public func allowsLocal(_ address: IPAddress, port: UInt16?) -> Bool {
    var policy = self
    policy.own.insert(address.unmapped)
    return policy.allows(address, port: port)
  }

  /// Evaluates one form of an address, by the lists and by its class.
  private func allows(_ address: IPAddress) -> Bool {
    if deny.contains(where: { $0.contains(address) }) { return false }
    let length = address.family.bitCount
    if Self.metadata.contains(address) {
      return allow.contains { $0.length == length && $0.contains(address) }
    }
    if allow.contains(where: { $0.contains(address) }) { return true }
    if own.contains(address) || Self.special.contains(where: { $0.contains(address) }) { return false }
    if address.family == .ipv6, !Self.ordinary.contains(where: { $0.contains(address) }) { return false }
    return profile != .strict || !Self.privateNetworks.contains { $0.contains(address) }
  }

  /// Whether the address is this machine's.
  private func isLocal(_ address: IPAddress) -> Bool {
    address.isLoopback || address.isUnspecified || own.contains(address)
  }

  /// The addresses of cloud metadata services, which give a machine or a container its secrets.
  ///
  /// Only an entry of exactly that address permits one, not a larger block.
  static let metadata: Set<IPAddress> = [
    IPAddress(ipv4: 0xa9fe_a9fe),  // 169.254.169.254: Amazon, Google, Azure and others
    IPAddress(ipv6: 0xfd00_0ec2_0000_0000, 0x254),  // fd00:ec2::254: Amazon
    IPAddress(ipv4: 0xa9fe_aa02),  // 169.254.170.2: Amazon ECS tasks
    IPAddress(ipv4: 0xa9fe_aa17),  // 169.254.170.23: Amazon EKS pods
    IPAddress(ipv6: 0xfd00_0ec2_0000_0000, 0x23),  // fd00:ec2::23: Amazon EKS pods
    IPAddress(ipv6: 0xfd20_00ce_0000_0000, 0x254),  // fd20:ce::254: Google
    IPAddress(ipv6: 0xfe80_0000_0000_0000, 0xa9fe_a9fe),  // fe80::a9fe:a9fe: OpenStack
    IPAddress(ipv6: 0xfd00_00c1_0000_0000, 0xa9fe_a9fe),  // fd00:c1::a9fe:a9fe: Oracle
    IPAddress(ipv4: 0xc000_00c0),  // 192.0.0.192: Oracle, formerly
    IPAddress(ipv6: 0xfd00_0042_0000_0000, 0x42),  // fd00:42::42: Scaleway
    IPAddress(ipv4: 0x6464_64c8),  // 100.100.100.200: Alibaba
    IPAddress(ipv4: 0xa83f_8110),  // 168.63.129.16: Azure's WireServer
  ]

  /// The blocks that are not ordinary hosts: the registries of RFC 6890 (as IANA keeps them), and multicast.
  static let special: [IPPrefix] =
    ipv4Blocks([
      (0x0000_0000, 8),  // this network (RFC 791): the kernel treats 0.0.0.0 as this machine
      (0x6440_0000, 10),  // shared address space of carriers (RFC 6598)
      (0x7f00_0000, 8),  // loopback
      (0xa9fe_0000, 16),  // link-local (RFC 3927)
      (0xc000_0000, 24),  // protocol assignments (RFC 6890)
      (0xc000_0200, 24),  // documentation (RFC 5737)
      (0xc058_6300, 24),  // 6to4 relays (RFC 7526)
      (0xc612_0000, 15),  // benchmarking (RFC 2544)
      (0xc633_6400, 24),  // documentation
      (0xcb00_7100, 24),  // documentation
      (0xe000_0000, 4),  // multicast
      (0xf000_0000, 4),  // reserved, and the broadcast address
    ])
    + ipv6Blocks([
      (0x2001_0000_0000_0000, 23),  // protocol assignments, Teredo among them (RFC 2928)
      (0x2001_0db8_0000_0000, 32),  // documentation
      (0x3fff_0000_0000_0000, 20),  // documentation (RFC 9637)
    ])

  /// The blocks of ordinary IPv6 hosts: global unicast, unique local addresses, and the NAT64 prefix of RFC 6052.
  ///
  /// Everything else is loopback, link-local, multicast, or reserved.
  static let ordinary: [IPPrefix] =
    ipv6Blocks([(0x2000_0000_0000_0000, 3), (0xfc00_0000_0000_0000, 7), (0x0064_ff9b_0000_0000, 96)])

  /// Private networks (RFC 1918, RFC 4193).
  package static let privateNetworks: [IPPrefix] =
    ipv4Blocks([(0x0a00_0000, 8), (0xac10_0000, 12), (0xc0a8_0000, 16)])
    + ipv6Blocks([(0xfc00_0000_0000_0000, 7)])

  private static func ipv4Blocks(_ blocks: [(UInt32, UInt8)]) -> [IPPrefix] {
    blocks.map { IPPrefix(IPAddress(ipv4: $0.0), length: $0.1) }
  }

  private static func ipv6Blocks(_ blocks: [(UInt64, UInt8)]) -> [IPPrefix] {
    blocks.map { IPPrefix(IPAddress(ipv6: $0.0, 0), length: $0.1) }
  }
}

extension IPAddress {
  /// The IPv4 addresses that a packet to this IPv6 address may be delivered to, as far as the address shows them.
  ///
  /// NAT64 `64:ff9b::/96` (RFC 6052), 6to4 `2002::/16` (RFC 3056), Teredo's server and client (RFC 4380), ISATAP
  /// (RFC 5214), `::a.b.c.d` (RFC 4291 §2.5.5.1), and mapped addresses.
  var embeddedIPv4: [IPAddress] {
    guard family == .ipv6 else { return [] }
    let tail = IPAddress(ipv4: UInt32(truncatingIfNeeded: low))
    if unmapped != self { return [unmapped] }
    if high == 0, low >> 32 == 0, low > 1 { return [tail] }
    if high == 0x0064_ff9b_0000_0000, low >> 32 == 0 { return [tail] }
    if high >> 48 == 0x2002 { return [IPAddress(ipv4: UInt32(truncatingIfNeeded: high >> 16))] }
    if high >> 32 == 0x2001_0000 {
      return [IPAddress(ipv4: UInt32(truncatingIfNeeded: high)), IPAddress(ipv4: ~UInt32(truncatingIfNeeded: low))]
    }
    if low >> 32 == 0x0000_5efe || low >> 32 == 0x0200_5efe { return [tail] }
    return []
  }
}
