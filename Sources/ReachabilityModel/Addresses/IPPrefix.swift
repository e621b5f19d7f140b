/// An address block: `10.0.0.0/24`, `2000::/3` (RFC 4632, RFC 4291 §2.3).
public struct IPPrefix: Hashable, Sendable, CustomStringConvertible {
  /// The first address of the block, or, for an interface's address, the address itself.
  public let address: IPAddress
  /// How many leading bits the block fixes: 0…32 or 0…128.
  public let length: UInt8

  /// A block of `length` bits; a longer length than the family has is cut to it.
  public init(_ address: IPAddress, length: UInt8) {
    self.address = address
    self.length = min(length, address.family.bitCount)
  }

  /// `address/length`.
  public var description: String { "\(address)/\(length)" }

  /// The block itself, without the bits of an address in it.
  public var block: IPPrefix { IPPrefix(address.masked(to: length), length: length) }

  /// Whether an address lies in the block; an IPv4 block never covers an IPv6 address, mapped ones included.
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
    // Shifts by a word's width and more give zero (Swift's smart shift).
    let high = first.high | (UInt64.max >> UInt64(min(length, 64)))
    let low = first.low | (length <= 64 ? UInt64.max : UInt64.max >> UInt64(length - 64))
    return first...IPAddress(ipv6: high, low)
  }
}

extension IPAddress {
  /// The address with all but its leading bits zero.
  ///
  /// - Parameter length: how many bits to keep; all when that is more than there are.
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
