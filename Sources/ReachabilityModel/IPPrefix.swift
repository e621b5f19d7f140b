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
}
