/// The address blocks of routes and policy rules, with a longest-prefix match.
///
/// All addresses with the same longest block match the same routes and rules in the same order, whatever their tables,
/// metrics and types, so the kernel's answer for one of them holds for all. Only the blocks are mirrored, not the
/// routes. A block whose route is gone costs only an additional lookup. A missing block would give a wrong answer, and
/// the kernel announces every new one.
package struct RouteBlocks: Sendable, Equatable {
  private var ipv4 = Lengths<UInt32>()
  private var ipv6 = Lengths<UInt128>()

  /// Creates a set of only the two blocks that cover everything.
  package init() {}

  /// Creates a set of blocks, in addition to the two that cover everything.
  package init(_ blocks: some Sequence<IPPrefix>) {
    for block in blocks { insert(block) }
  }

  /// The number of blocks, without the two that cover everything.
  package var count: Int { ipv4.count + ipv6.count }

  /// Adds a block.
  ///
  /// - Returns: false when it was present already.
  @discardableResult
  package mutating func insert(_ block: IPPrefix) -> Bool {
    let first = block.address.masked(to: block.length)
    guard block.length > 0 else { return false }
    switch first.family {
    case .ipv4: return ipv4.insert(UInt32(truncatingIfNeeded: first.low), Int(block.length))
    case .ipv6: return ipv6.insert(first.number, Int(block.length))
    }
  }

  package func contains(_ block: IPPrefix) -> Bool {
    let first = block.address.masked(to: block.length)
    switch first.family {
    case .ipv4: return block.length == 0 || ipv4.contains(UInt32(truncatingIfNeeded: first.low), Int(block.length))
    case .ipv6: return block.length == 0 || ipv6.contains(first.number, Int(block.length))
    }
  }

  package func longest(covering address: IPAddress) -> IPPrefix {
    let length =
      switch address.family {
      case .ipv4: ipv4.longest(covering: UInt32(truncatingIfNeeded: address.low))
      case .ipv6: ipv6.longest(covering: address.number)
      }
    return IPPrefix(address.masked(to: UInt8(length)), length: UInt8(length))
  }

  /// The number of blocks of another set that are not in this one.
  package func countMissing(of other: RouteBlocks) -> Int {
    ipv4.countMissing(of: other.ipv4) + ipv6.countMissing(of: other.ipv6)
  }
}

/// One set of first addresses for each prefix length.
private struct Lengths<Number: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable, Equatable {
  /// Indexed by length; the first set stays empty.
  private var sets = [Set<Number>](repeating: [], count: Number.bitWidth + 1)
  /// The lengths in use, the longest first: a routing table has few of the possible ones.
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
  /// The address as one number, most significant bit first; the lower 32 bits for IPv4.
  package var number: UInt128 { UInt128(high) << 64 | UInt128(low) }

  package init(_ family: Family, number: UInt128) {
    let low = UInt64(truncatingIfNeeded: number)
    switch family {
    case .ipv4: self.init(ipv4: UInt32(truncatingIfNeeded: low))
    case .ipv6: self.init(ipv6: UInt64(truncatingIfNeeded: number >> 64), low)
    }
  }

  /// Whether routes alone decide about the address.
  ///
  /// False for addresses that the kernel or the rules treat specially: this network, loopback, link-local, multicast,
  /// limited broadcast, and `::/16` with its mapped and compatible forms.
  package var isRouted: Bool {
    switch family {
    case .ipv4: low >> 24 != 0 && !isLoopback && !isLinkLocal && !isMulticast && low != 0xffff_ffff
    case .ipv6: high >> 48 != 0 && !isMulticast && high >> 55 != 0x1fd
    }
  }
}
