// Text forms: dotted decimal for IPv4; RFC 4291 input and RFC 5952 output for IPv6.

extension IPAddress: CustomStringConvertible {
  /// Parses `a.b.c.d` or an RFC 4291 §2.2 IPv6 literal; nil for anything else, including zones, brackets and ports.
  ///
  /// IPv4 is strict: four decimal octets without leading zeros. The octal, hexadecimal and short forms of `inet_aton`
  /// are rejected, because two programs can read them as two different hosts.
  public init?(_ text: String) {
    if text.utf8.contains(UInt8(ascii: ":")) {
      self.init(ipv6Text: text)
    } else {
      guard let bits = Self.ipv4Bits(text.utf8) else { return nil }
      self.init(ipv4: bits)
    }
  }

  /// Parses part of a text.
  public init?(_ text: some StringProtocol) { self.init(String(text)) }

  private static func ipv4Bits(_ text: some Sequence<UInt8>) -> UInt32? {
    var (bits, octet): (UInt32, UInt32) = (0, 0)
    var (dots, digits) = (0, 0)
    for byte in text {
      if byte == UInt8(ascii: ".") {
        guard digits > 0, dots < 3 else { return nil }
        (bits, octet) = (bits << 8 | octet, 0)
        (dots, digits) = (dots + 1, 0)
      } else {
        guard byte.isASCIIDigit, digits == 0 || octet > 0 else { return nil }
        octet = octet * 10 + UInt32(byte - 0x30)
        digits += 1
        guard octet <= 255 else { return nil }
      }
    }
    return dots == 3 && digits > 0 ? bits << 8 | octet : nil
  }

  private init?(ipv6Text text: String) {
    // 8 groups of 4 digits and an embedded IPv4 tail: no address is longer.
    guard text.utf8.count <= 45 else { return nil }
    let halves = Self.splitAtDoubleColon(text)
    guard let halves, let front = Self.groups(halves.front, endsAddress: halves.back == nil) else { return nil }
    guard let backText = halves.back else {
      guard front.count == 8 else { return nil }
      self.init(groups: front)
      return
    }
    // "::" stands for at least one group (RFC 4291 §2.2).
    guard let back = Self.groups(backText, endsAddress: true), front.count + back.count <= 7 else { return nil }
    self.init(groups: front + Array(repeating: 0, count: 8 - front.count - back.count) + back)
  }

  private init(groups: [UInt16]) {
    func number(_ part: some Sequence<UInt16>) -> UInt64 { part.reduce(0) { $0 << 16 | UInt64($1) } }
    self.init(ipv6: number(groups.prefix(4)), number(groups.suffix(4)))
  }

  /// The text before and after the only `::`; no back part when there is none; nil when there are two.
  private static func splitAtDoubleColon(_ text: String) -> (front: Substring, back: Substring?)? {
    let bytes = text.utf8
    var found: String.Index?
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let next = bytes.index(after: index)
      if bytes[index] == 0x3a, next < bytes.endIndex, bytes[next] == 0x3a {
        guard found == nil else { return nil }
        found = index
        index = next
      }
      index = bytes.index(after: index)
    }
    guard let found else { return (text[...], nil) }
    return (text[..<found], text[bytes.index(found, offsetBy: 2)...])
  }

  private static func groups(_ text: Substring, endsAddress: Bool) -> [UInt16]? {
    guard !text.isEmpty else { return [] }
    var groups: [UInt16] = []
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if part.contains(".") {
        guard endsAddress, index == parts.count - 1, let bits = ipv4Bits(part.utf8) else { return nil }
        groups += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
      } else {
        guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy(isHexDigit), let group = UInt16(part, radix: 16)
        else { return nil }
        groups.append(group)
      }
    }
    return groups
  }

  /// Whether a byte is a hexadecimal digit; Swift's integer parser also accepts a sign.
  private static func isHexDigit(_ byte: UInt8) -> Bool {
    byte.isASCIIDigit || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }

  /// Dotted decimal, or the canonical IPv6 form of RFC 5952: lower case, longest run of zeros as `::`, mapped addresses
  /// with a dotted tail.
  public var description: String {
    guard family == .ipv6 else { return dottedDecimal }
    if unmapped != self { return "::ffff:\(unmapped)" }
    let groups = (0..<8).map { UInt16(truncatingIfNeeded: ($0 < 4 ? high : low) >> (48 - 16 * UInt64($0 % 4))) }
    let zeros = Self.longestZeroRun(groups)
    func hex(_ part: some Sequence<UInt16>) -> String {
      part.map { String($0, radix: 16) }.joined(separator: ":")
    }
    guard let zeros else { return hex(groups) }
    return hex(groups[..<zeros.lowerBound]) + "::" + hex(groups[zeros.upperBound...])
  }

  /// The bytes are written singly, because every check of an address executes this code.
  private var dottedDecimal: String {
    var text: [UInt8] = []
    text.reserveCapacity(15)
    for shift: UInt64 in [24, 16, 8, 0] {
      let octet = UInt8(truncatingIfNeeded: low >> shift)
      if octet > 99 { text.append(0x30 + octet / 100) }
      if octet > 9 { text.append(0x30 + octet / 10 % 10) }
      text.append(0x30 + octet % 10)
      if shift > 0 { text.append(UInt8(ascii: ".")) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The first longest run of two or more zero groups (RFC 5952 §4.2).
  private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int>? {
    var best: Range<Int>?
    var start = 0
    while start < groups.count {
      var end = start
      while end < groups.count, groups[end] == 0 { end += 1 }
      if end - start >= 2, end - start > (best?.count ?? 0) { best = start..<end }
      start = max(end, start) + 1
    }
    return best
  }
}
