/// An IPv4 or IPv6 address, without port and without zone.
///
/// IPv4-mapped IPv6 addresses (`::ffff:a.b.c.d`, RFC 4291 §2.5.5.2) keep their IPv6 form. ``unmapped`` returns the IPv4
/// address that the kernel sends packets to.
public struct IPAddress: Hashable, Sendable {
  /// The supported address families.
  public enum Family: UInt8, Hashable, Sendable, CaseIterable {
    /// IPv4, `AF_INET`.
    case ipv4 = 2
    /// IPv6, `AF_INET6` as Linux numbers it.
    case ipv6 = 10

    /// The length of an address in bits: 32 or 128.
    public var bitCount: UInt8 { self == .ipv4 ? 32 : 128 }
  }

  /// The family.
  public let family: Family
  /// The upper 64 bits of an IPv6 address; 0 for IPv4.
  public let high: UInt64
  /// The lower 64 bits of an IPv6 address, or the 32 bits of an IPv4 address.
  public let low: UInt64

  /// Creates an IPv4 address from its 32 bits, most significant octet first.
  public init(ipv4 bits: UInt32) {
    family = .ipv4
    high = 0
    low = UInt64(bits)
  }

  /// Creates an IPv6 address from its two halves, most significant first.
  public init(ipv6 high: UInt64, _ low: UInt64) {
    family = .ipv6
    self.high = high
    self.low = low
  }

  /// Creates an address from 4 or 16 octets in network order; nil for any other count.
  public init?(octets: some Collection<UInt8>) {
    func number(_ part: some Sequence<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
    switch octets.count {
    case 4: self.init(ipv4: UInt32(number(octets)))
    case 16: self.init(ipv6: number(octets.prefix(8)), number(octets.suffix(8)))
    default: return nil
    }
  }

  /// The octets in network order: 4 or 16.
  public var octets: [UInt8] {
    let lowBytes = (0..<8).map { UInt8(truncatingIfNeeded: low >> (56 - 8 * UInt64($0))) }
    guard family == .ipv6 else { return Array(lowBytes.suffix(4)) }
    return (0..<8).map { UInt8(truncatingIfNeeded: high >> (56 - 8 * UInt64($0))) } + lowBytes
  }

  /// The IPv4 address inside an IPv4-mapped IPv6 address, else the address itself.
  public var unmapped: IPAddress {
    guard family == .ipv6, high == 0, low >> 32 == 0xffff else { return self }
    return IPAddress(ipv4: UInt32(truncatingIfNeeded: low))
  }
}

extension IPAddress: Comparable {
  /// IPv4 before IPv6, then by value.
  public static func < (left: IPAddress, right: IPAddress) -> Bool {
    (left.family.rawValue, left.high, left.low) < (right.family.rawValue, right.high, right.low)
  }
}

// Address classes that follow from the number alone (RFC 6890, RFC 4291).
extension IPAddress {
  /// `0.0.0.0` or `::`.
  public var isUnspecified: Bool { high == 0 && low == 0 }

  /// `127.0.0.0/8` or `::1`.
  public var isLoopback: Bool {
    family == .ipv4 ? low >> 24 == 127 : high == 0 && low == 1
  }

  /// `169.254.0.0/16` (RFC 3927) or `fe80::/10`.
  public var isLinkLocal: Bool {
    family == .ipv4 ? low >> 16 == 0xa9fe : high >> 54 == 0x3fa
  }

  /// `224.0.0.0/4` or `ff00::/8`.
  public var isMulticast: Bool {
    family == .ipv4 ? low >> 28 == 0xe : high >> 56 == 0xff
  }

  /// Multicast that never leaves a link, so that it needs an interface: `ff01::/16`, `ff02::/16`.
  public var isLinkLocalMulticast: Bool {
    family == .ipv6 && isMulticast && (high >> 48) & 0xf <= 2
  }
}

// Addresses by family.
extension IPAddress {
  /// `0.0.0.0` or `::`.
  static func unspecified(_ family: Family) -> IPAddress {
    family == .ipv4 ? IPAddress(ipv4: 0) : IPAddress(ipv6: 0, 0)
  }

  /// `127.0.0.1` or `::1`.
  static func loopback(_ family: Family) -> IPAddress {
    family == .ipv4 ? IPAddress(ipv4: 0x7f00_0001) : IPAddress(ipv6: 0, 1)
  }
}
