/// The blocks that routes and policy rules tell apart, and the longest of them that covers an address.
///
/// All addresses with the same longest block run through the same routes and rules in the same order, whatever their
/// tables, metrics and types: what the kernel answers for one of them it answers for all. So the blocks alone are
/// mirrored, not the routes. A block too many, whose route is gone, only asks a question more; one too few would be a
/// wrong answer, and the kernel announces every new one.
public struct RouteBlocks: Sendable, Equatable {
  private var ipv4 = Lengths<UInt32>()
  private var ipv6 = Lengths<UInt128>()

  /// Just the two blocks that cover everything.
  public init() {}

  /// The blocks of a list, and the two that cover everything.
  public init(_ blocks: some Sequence<IPPrefix>) {
    for block in blocks { insert(block) }
  }

  /// How many blocks there are, besides the two that cover everything.
  public var count: Int { ipv4.count + ipv6.count }

  /// Adds a block.
  ///
  /// - Returns: false when it was there already.
  @discardableResult
  public mutating func insert(_ block: IPPrefix) -> Bool {
    let first = block.address.masked(to: block.length)
    guard block.length > 0 else { return false }
    switch first.family {
    case .ipv4: return ipv4.insert(UInt32(truncatingIfNeeded: first.low), Int(block.length))
    case .ipv6: return ipv6.insert(first.number, Int(block.length))
    }
  }

  /// Whether there is such a block.
  public func contains(_ block: IPPrefix) -> Bool {
    let first = block.address.masked(to: block.length)
    switch first.family {
    case .ipv4: return block.length == 0 || ipv4.contains(UInt32(truncatingIfNeeded: first.low), Int(block.length))
    case .ipv6: return block.length == 0 || ipv6.contains(first.number, Int(block.length))
    }
  }

  /// The longest block that covers an address.
  public func longest(covering address: IPAddress) -> IPPrefix {
    let length =
      switch address.family {
      case .ipv4: ipv4.longest(covering: UInt32(truncatingIfNeeded: address.low))
      case .ipv6: ipv6.longest(covering: address.number)
      }
    return IPPrefix(address.masked(to: UInt8(length)), length: UInt8(length))
  }

  /// How many blocks of another set are not in this one.
  public func countMissing(of other: RouteBlocks) -> Int {
    ipv4.countMissing(of: other.ipv4) + ipv6.countMissing(of: other.ipv6)
  }
}

/// One set of block beginnings for each length.
private struct Lengths<Number: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable, Equatable {
  /// By length; the first one stays empty.
  private var sets = [Set<Number>](repeating: [], count: Number.bitWidth + 1)
  /// The lengths that there are, the longest first: a table has few of the many that there could be.
  private var lengths: [Int] = []

  var count: Int { lengths.reduce(0) { $0 + sets[$1].count } }

  mutating func insert(_ first: Number, _ length: Int) -> Bool {
    if sets[length].isEmpty {
      lengths.append(length)
      lengths.sort(by: >)
    }
    return sets[length].insert(first).inserted
  }

  func contains(_ first: Number, _ length: Int) -> Bool { sets[length].contains(first) }

  func longest(covering address: Number) -> Int {
    for length in lengths where sets[length].contains(address & ~(Number.max >> length)) { return length }
    return 0
  }

  func countMissing(of other: Self) -> Int {
    other.lengths.reduce(0) { $0 + other.sets[$1].subtracting(sets[$1]).count }
  }
}

extension IPAddress {
  /// The address as one number, most significant bit first; of IPv4 the lower 32 bits.
  public var number: UInt128 { UInt128(high) << 64 | UInt128(low) }

  /// An address from its family and its number.
  public init(_ family: Family, number: UInt128) {
    let low = UInt64(truncatingIfNeeded: number)
    switch family {
    case .ipv4: self.init(ipv4: UInt32(truncatingIfNeeded: low))
    case .ipv6: self.init(ipv6: UInt64(truncatingIfNeeded: number >> 64), low)
    }
  }

  /// False for addresses that the kernel or the rules treat by their own number and not by their route alone: this
  /// network, loopback, link-local, multicast, limited broadcast, `::/16` with its mapped and compatible forms.
  public var isRouted: Bool {
    switch family {
    case .ipv4: low >> 24 != 0 && !isLoopback && !isLinkLocal && !isMulticast && low != 0xffff_ffff
    case .ipv6: high >> 48 != 0 && !isMulticast && high >> 55 != 0x1fd
    }
  }
}
