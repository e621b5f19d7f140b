/// An address block: `10.0.0.0/24`, `2000::/3` (RFC 4632, RFC 4291 §2.3).
public struct IPPrefix: Hashable, Sendable, CustomStringConvertible {
  /// The first address of the block, or, for an interface's address, the address itself.
  public let address: IPAddress
  /// The number of leading bits that the block fixes: 0…32 or 0…128.
  public let length: UInt8

  /// Creates a block of `length` bits, limited to the family's length.
  public init(_ address: IPAddress, length: UInt8) {
    self.address = address
    self.length = min(length, address.family.bitCount)
  }

  /// `address/length`.
  public var description: String { "\(address)/\(length)" }

  /// The block itself, with the host bits cleared.
  public var block: IPPrefix { IPPrefix(address.masked(to: length), length: length) }

  /// Whether an address is in the block; an IPv4 block never contains an IPv6 address, mapped or not.
  public func contains(_ other: IPAddress) -> Bool {
    address.family == other.family && address.masked(to: length) == other.masked(to: length)
  }

  /// The first and the last address of the block.
  public var bounds: ClosedRange<IPAddress> {
    let first = address.masked(to: length)
    guard first.family == .ipv6 else {
      let host: UInt64 = length >= 32 ? 0 : 0xffff_ffff >> UInt64(length)
      return first...IPAddress(ipv4: UInt32(truncatingIfNeeded: first.low | host))
    }
    // Swift's smart shift gives zero for shifts by the bit width or more.
    let high = first.high | (UInt64.max >> UInt64(min(length, 64)))
    let low = first.low | (length <= 64 ? UInt64.max : UInt64.max >> UInt64(length - 64))
    return first...IPAddress(ipv6: high, low)
  }
}

extension IPAddress {
  /// The address with all but its leading bits cleared.
  ///
  /// - Parameter length: how many bits to keep; all if the address has fewer.
  /// - Returns: the first address of the block of that length.
  public func masked(to length: UInt8) -> IPAddress {
    guard family == .ipv6 else {
      return length >= 32 ? self : IPAddress(ipv4: UInt32(truncatingIfNeeded: low) & ~(UInt32.max >> UInt32(length)))
    }
    guard length < 128 else { return self }
    return length <= 64
      ? IPAddress(ipv6: high & ~(UInt64.max >> UInt64(length)), 0)
      : IPAddress(ipv6: high, low & ~(UInt64.max >> UInt64(length - 64)))
  }
}
