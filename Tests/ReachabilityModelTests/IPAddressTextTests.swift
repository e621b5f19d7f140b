import Glibc
import ReachabilityModel
import TestSupport
import Testing

@Suite("IP addresses as text")
struct IPAddressTextTests {
  @Test(
    "A canonical text is read and written back unchanged",
    arguments: [
      "0.0.0.0", "1.2.3.4", "10.0.0.1", "127.0.0.1", "169.254.169.254", "255.255.255.255",
      "::", "::1", "1::", "fe80::1", "2001:db8::1", "2001:db8:1:2:3:4:5:6", "::ffff:1.2.3.4", "64:ff9b::102:304",
      "2001:db8:0:1:1:1:1:1", "2001:0:0:1::1", "::2:0:0:0", "ff02::1:ff00:0",
    ])
  func canonical(_ text: String) throws {
    #expect(try ip(text).description == text)
  }

  @Test(
    "Every spelling of an address is read, and written in its RFC 5952 form",
    arguments: [
      ("0000:0000:0000:0000:0000:0000:0000:0000", "::"), ("0:0:0:0:0:0:0:1", "::1"), ("FE80::ABCD", "fe80::abcd"),
      ("2001:0DB8:0000:0000:0001:0000:0000:0001", "2001:db8::1:0:0:1"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
      ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("1::3:4:5:6:7:8", "1:0:3:4:5:6:7:8"),
      ("::ffff:0102:0304", "::ffff:1.2.3.4"),
      ("0000:0000:0000:0000:0000:ffff:255.255.255.255", "::ffff:255.255.255.255"), ("::1.2.3.4", "::102:304"),
      ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"), ("0:0:1::", "0:0:1::"),
    ])
  func spellings(_ text: String, _ canonical: String) throws {
    #expect(try ip(text).description == canonical)
  }

  @Test(
    "Octal, hexadecimal, short and broken IPv4 texts are refused",
    arguments: [
      "", " ", ".", "1", "1.2", "1.2.3", "1.2.3.", ".1.2.3", "1.2.3.4.", "1.2.3.4.5", "1..2.3", "256.1.1.1",
      "1.2.3.256",
      "1.2.3.999", "1.2.3.1000", "01.2.3.4", "1.2.3.04", "00.0.0.0", "010.0.0.1", "0x7f.0.0.1", "0x7f000001",
      "2130706433",
      "127.1", "+1.2.3.4", "-1.2.3.4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4\n", "1.2.3.4/24", "1.2.3.4%eth0", "1.2.3.4:80",
      "a.b.c.d", "1.2.3.4\u{0}", "١.٢.٣.٤", "１.2.3.4", "1.2.3.4\u{301}", "1。2。3。4",
    ])
  func badIPv4(_ text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test(
    "Broken IPv6 texts are refused",
    arguments: [
      ":", ":::", "::::", "1", "1:", ":1", "1:2", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::",
      "::1:2:3:4:5:6:7:8",
      "1::2:3:4:5:6:7:8", "1::2::3", "::1::", "12345::", "::12345", "00001::", "g::", "::g", "fe80::1%eth0", "[::1]",
      "::1]",
      "::1/64", " ::1", "::1 ", "::1\n", "+1::", "::-1", "::1.2.3", "::1.2.3.4.5", "::1.2.3.256", "::01.2.3.4",
      "1.2.3.4::",
      "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "::.1.2.3", "::1.2.3.4\u{0}", "::\u{301}1", "1:\u{301}:2", "0x1::",
      "00000:0000:0000:0000:0000:ffff:255.255.255.255", ":1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:",
    ])
  func badIPv6(_ text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test("100,000 random addresses survive being written and read")
  func roundTrips() {
    var generator = SeededGenerator(seed: 1)
    var broken: [IPAddress] = []
    for _ in 0..<100_000 {
      let address = Self.random(&generator)
      if IPAddress(address.description) != address || IPAddress(octets: address.octets) != address {
        broken.append(address)
      }
    }
    #expect(broken.isEmpty)
  }

  @Test("Random addresses are written as inet_ntop writes them")
  func writesAsGlibc() {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<20_000 {
      let address = Self.random(&generator)
      // inet_ntop gives IPv4-compatible addresses (RFC 4291 §2.5.5.1, deprecated) a dotted tail; RFC 5952 does not.
      if address.family == .ipv6, address.high == 0, address.low >> 32 == 0, address.low > 0xffff { continue }
      let theirs = Self.glibcText(address)
      guard address.description != theirs else { continue }
      Issue.record("\(address.octets) is \(address.description), for inet_ntop \(theirs)")
    }
  }

  @Test("Random texts near to addresses are read as inet_pton reads them")
  func readsAsGlibc() {
    var generator = SeededGenerator(seed: 3)
    var accepted = 0
    for _ in 0..<50_000 {
      let text = Self.randomText(&generator)
      let theirs = Self.glibcAddress(text)
      if theirs != nil { accepted += 1 }
      guard IPAddress(text) != theirs else { continue }
      Issue.record("\(text.debugDescription) is \(String(describing: IPAddress(text))), for inet_pton \(theirs as Any)")
    }
    // Else the texts are too far from addresses to prove anything.
    #expect(accepted > 5000)
  }

  @Test("Random strings of any characters never trap")
  func anyString() {
    var generator = SeededGenerator(seed: 4)
    let scalars: [Unicode.Scalar] = [
      ".", ":", "%", "[", "1", "f", "\u{0}", "\u{301}", "\r", "\n", "é", "😀", "\u{200d}", "٣",
    ]
    for _ in 0..<50_000 {
      var text = ""
      for _ in 0..<Int.random(in: 0...50, using: &generator) {
        text.unicodeScalars.append(scalars.randomElement(using: &generator) ?? "1")
      }
      _ = IPAddress(text)
      _ = IPAddress(text.dropFirst())
      _ = try? ReachabilityTarget(host: text, source: text, interface: text)
    }
  }
}

extension IPAddressTextTests {
  /// An address with many zero groups, so that runs of zeros of every length and place come up.
  static func random(_ generator: inout SeededGenerator) -> IPAddress {
    if Int.random(in: 0..<4, using: &generator) == 0 {
      return IPAddress(ipv4: UInt32.random(in: 0...UInt32.max, using: &generator))
    }
    let mapped = Int.random(in: 0..<8, using: &generator) == 0
    let groups = (0..<8).map { index -> UInt16 in
      if mapped, index < 6 { return index < 5 ? 0 : 0xffff }
      return Bool.random(using: &generator) ? 0 : UInt16.random(in: 0...UInt16.max, using: &generator) >> 8
    }
    func half(_ part: ArraySlice<UInt16>) -> UInt64 { part.reduce(0) { $0 << 16 | UInt64($1) } }
    return IPAddress(ipv6: half(groups[..<4]), half(groups[4...]))
  }

  /// A valid text with up to three characters changed, added or taken away.
  static func randomText(_ generator: inout SeededGenerator) -> String {
    var bytes = Array(random(&generator).description.utf8)
    let alphabet = Array("0123456789abcdefABCDEFgx.:%-+ ".utf8)
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      let place = Int.random(in: 0...bytes.count, using: &generator)
      let byte = alphabet.randomElement(using: &generator) ?? 0x30
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: bytes.insert(byte, at: place)
      case 1 where place < bytes.count: bytes[place] = byte
      case 2 where place < bytes.count: bytes.remove(at: place)
      default: break
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func glibcAddress(_ text: String) -> IPAddress? {
    var octets = [UInt8](repeating: 0, count: 16)
    if unsafe inet_pton(AF_INET, text, &octets) == 1 { return IPAddress(octets: octets.prefix(4)) }
    if unsafe inet_pton(AF_INET6, text, &octets) == 1 { return IPAddress(octets: octets) }
    return nil
  }

  static func glibcText(_ address: IPAddress) -> String {
    var octets = address.octets
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = address.family == .ipv4 ? AF_INET : AF_INET6
    _ = unsafe inet_ntop(family, &octets, &text, socklen_t(text.count))
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
