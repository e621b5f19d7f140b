import ReachabilityModel
import TestSupport
import Testing

@Suite("Blocks of routes")
struct RouteBlocksTests {
  @Test("The longest block that covers an address is found, the whole space when none does")
  func longest() throws {
    let blocks = RouteBlocks(
      try ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/32", "2001:db8::/32", "2001:db8::1/128", "fe80::/64"].map {
        try block($0)
      })
    let rows = [
      ("10.1.2.3", "10.1.2.3/32"), ("10.1.2.4", "10.1.0.0/16"), ("10.2.0.0", "10.0.0.0/8"), ("11.0.0.0", "0.0.0.0/0"),
      ("2001:db8::1", "2001:db8::1/128"), ("2001:db8::2", "2001:db8::/32"), ("2001:db9::", "::/0"),
    ]
    for (address, expected) in rows {
      let (address, expected) = (try ip(address), try block(expected))
      #expect(blocks.longest(covering: address) == expected)
    }
    #expect(blocks.count == 6)
  }

  @Test("A block is there once, however its address is written, and the whole space always is")
  func once() throws {
    var blocks = RouteBlocks()
    let inserted = try ["10.1.2.3/8", "10.0.0.0/8", "0.0.0.0/0"].map { blocks.insert(try block($0)) }
    #expect(inserted == [true, false, false])
    let contained = try ["10.9.9.9/8", "::/0", "10.0.0.0/9"].map { blocks.contains(try block($0)) }
    #expect(contained == [true, true, false])
    let other = RouteBlocks(try ["10.0.0.0/8", "10.0.0.0/9", "fd00::/8"].map { try block($0) })
    #expect(blocks.countMissing(of: other) == 2 && other.countMissing(of: blocks) == 0)
  }

  @Test("In random sets the answer is that of trying every block")
  func random() {
    var generator = SeededGenerator(seed: 7)
    for family in IPAddress.Family.allCases {
      let bits = family.bitCount
      func address() -> IPAddress {
        // Few bits vary, so that blocks lie in each other.
        let high = UInt128.random(in: 0...15, using: &generator) << UInt128(bits - 4)
        return IPAddress(family, number: high | UInt128.random(in: 0...255, using: &generator))
      }
      let list = (0..<200).map { _ in
        IPPrefix(address(), length: UInt8.random(in: 0...bits, using: &generator)).block
      }
      let blocks = RouteBlocks(list)
      for _ in 0..<2000 {
        let one = address()
        let covering = list.filter { $0.contains(one) }.max { $0.length < $1.length }
        #expect(blocks.longest(covering: one).length == covering?.length ?? 0)
      }
    }
  }

  @Test("A block begins and ends where its length says")
  func bounds() throws {
    let rows = [
      ("10.1.2.3/8", "10.0.0.0", "10.255.255.255"), ("0.0.0.0/0", "0.0.0.0", "255.255.255.255"),
      ("10.1.2.3/32", "10.1.2.3", "10.1.2.3"), ("::/0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
      ("2001:db8::5/64", "2001:db8::", "2001:db8::ffff:ffff:ffff:ffff"),
      ("2001:db8::5/127", "2001:db8::4", "2001:db8::5"),
      ("2001:db8::5/128", "2001:db8::5", "2001:db8::5"),
      ("fe80::1/10", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ]
    for (text, first, last) in rows {
      let (bounds, expected) = (try block(text).bounds, try ip(first)...ip(last))
      #expect(bounds == expected, "\(text)")
      #expect(try block(text).block.address == bounds.lowerBound)
    }
  }

  @Test("Addresses with rules of their own do not go by route alone")
  func special() throws {
    for text in [
      "0.0.0.1", "127.0.0.1", "169.254.1.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "ff02::1",
    ] {
      #expect(try !ip(text).isRouted, "\(text)")
    }
    for text in ["10.0.0.1", "192.0.2.1", "2001:db8::1", "fd00::1", "64:ff9b::1"] {
      #expect(try ip(text).isRouted, "\(text)")
    }
  }
}
