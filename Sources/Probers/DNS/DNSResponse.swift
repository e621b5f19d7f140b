internal import CAres
internal import CSockets
internal import Glibc
internal import ReachabilityModel
internal import TextSyntax

/// A received DNS answer (RFC 1035 §4.1): its code, its counts, and the data of its answers in zone file format.
///
/// c-ares decodes the names, and follows compression pointers only within the packet.
struct DNSResponse: Equatable {
  let code: String
  let counts: [Int]
  let answers: [String]
  /// Texts of several strings as one string, in zone file format: the strings are parts of it only because one has 255 bytes at most.
  let joinedTexts: [String]
  /// The answer did not fit (TC): it is available over TCP.
  let isTruncated: Bool

  /// Decodes the answer to `question` from a whole packet; nil if the bytes are not an answer to it.
  init?(_ bytes: [UInt8], to question: [UInt8]) {
    guard bytes.count >= DNSPacket.headerBytes, question.count > DNSPacket.headerBytes else { return nil }
    // QR and the opcode; the id.
    guard bytes[2] & 0xF8 == 0x80, bytes.prefix(2) == question.prefix(2) else { return nil }
    isTruncated = bytes[2] & 0x02 != 0
    code = DNSPacket.codes[bytes[3] & 0x0F] ?? "RCODE\(bytes[3] & 0x0F)"
    counts = [6, 8, 10].map { Int(DNSPacket.number(bytes, $0) ?? 0) }
    // A server that cannot parse or refuses a query need not repeat the question.
    if DNSPacket.number(bytes, 4) == 0, code != "NOERROR", counts == [0, 0, 0] {
      (answers, joinedTexts) = ([], [])
      return
    }
    // The same question, possibly with letters in another case.
    let asked = question[DNSPacket.headerBytes...].map(DNSPacket.lowercased)
    guard DNSPacket.number(bytes, 4) == 1, bytes.count >= question.count,
      bytes[DNSPacket.headerBytes..<question.count].map(DNSPacket.lowercased) == asked
    else { return nil }
    var reader = DNSPacket(bytes: bytes, at: question.count)
    var answers: [String] = []
    for _ in 0..<min(counts[0], Limits.dnsAnswers) {
      guard let record = reader.record() else {
        // The packet is malformed, unless it was truncated on purpose.
        if isTruncated { break }
        return nil
      }
      answers.append(record)
    }
    self.answers = answers
    joinedTexts = reader.joinedTexts
  }
}

/// A packet that is decoded sequentially.
struct DNSPacket {
  static let headerBytes = 12

  /// RFC 1035 §4.1.1, RFC 2136.
  static let codes: [UInt8: String] = [
    0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED", 6: "YXDOMAIN", 7: "YXRRSET",
    8: "NXRRSET", 9: "NOTAUTH", 10: "NOTZONE",
  ]

  let bytes: [UInt8]
  private var index: Int
  /// The texts of several strings that were read, each as one string.
  private(set) var joinedTexts: [String] = []

  init(bytes: [UInt8], at index: Int) {
    self.bytes = bytes
    self.index = index
  }

  static func number(_ bytes: [UInt8], _ index: Int) -> UInt16? {
    guard index + 2 <= bytes.count else { return nil }
    return UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
  }

  static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

  /// The data of the next record; nil if it extends beyond the packet.
  mutating func record() -> String? {
    guard name() != nil, let type = number(), number() != nil, skip(4), let length = number().map(Int.init) else {
      return nil
    }
    let end = index + length
    guard end <= bytes.count else { return nil }
    defer { index = end }
    let known = DNSQuestion.RecordType(rawValue: type).flatMap { data($0, end) }
    // Data that does not conform to its type, or of an unknown type (RFC 3597 §5).
    return known ?? "\\# \(length) " + bytes[(end - length)..<end].prefix(Limits.unknownDataBytes).hexadecimal
  }

  private mutating func data(_ type: DNSQuestion.RecordType, _ end: Int) -> String? {
    switch type {
    case .a, .aaaa: return IPAddress(octets: bytes[index..<end])?.description
    case .ns, .cname, .ptr: return name()
    case .mx:
      guard let preference = number(), let exchange = name() else { return nil }
      return "\(preference) \(exchange)"
    case .srv:
      guard let priority = number(), let weight = number(), let port = number(), let target = name() else { return nil }
      return "\(priority) \(weight) \(port) \(target)"
    case .soa:
      guard let server = name(), let mailbox = name() else { return nil }
      let numbers = (0..<5).compactMap { _ in long() }
      return numbers.count == 5 ? ([server, mailbox] + numbers.map(\.description)).joined(separator: " ") : nil
    case .txt:
      var texts: [ArraySlice<UInt8>] = []
      while index < end {
        guard let text = string(end) else { return nil }
        texts.append(text)
      }
      if texts.count > 1 { joinedTexts.append(quoted(Array(texts.joined())[...])) }
      return texts.map(quoted).joined(separator: " ")
    case .caa:
      guard index < end else { return nil }
      let flags = bytes[index]
      index += 1
      guard let tag = string(end) else { return nil }
      return "\(flags) \(String(decoding: tag, as: UTF8.self)) \(quoted(bytes[index..<end]))"
    }
  }

  private mutating func number() -> UInt16? {
    guard let number = Self.number(bytes, index) else { return nil }
    index += 2
    return number
  }

  private mutating func long() -> UInt32? {
    guard let high = number(), let low = number() else { return nil }
    return UInt32(high) << 16 | UInt32(low)
  }

  private mutating func skip(_ count: Int) -> Bool {
    index += count
    return index <= bytes.count
  }

  /// A name with its final dot.
  private mutating func name() -> String? {
    guard index < bytes.count else { return nil }
    var text: UnsafeMutablePointer<CChar>?
    var length = 0
    let code = unsafe bytes.withUnsafeBufferPointer { buffer -> Int32 in
      guard let start = buffer.baseAddress else { return cares_bad_name }
      return unsafe ares_expand_name(start + index, start, Int32(buffer.count), &text, &length)
    }
    guard code == cares_success, let text = unsafe text else { return nil }
    defer { unsafe ares_free_string(text) }
    index += length
    return unsafe String(cString: text) + "."
  }

  /// A length, then that number of bytes (RFC 1035 §3.3).
  private mutating func string(_ end: Int) -> ArraySlice<UInt8>? {
    let from = index + 1
    guard index < end, from + Int(bytes[index]) <= end else { return nil }
    index = from + Int(bytes[index])
    return bytes[from..<index]
  }

  /// The text in zone file format (RFC 1035 §5.1): bytes that are not printable ASCII as `\DDD`.
  private func quoted(_ text: ArraySlice<UInt8>) -> String {
    var result = "\""
    for byte in text {
      switch byte {
      case 0x22, 0x5C: result += "\\" + String(UnicodeScalar(byte))
      case 0x20...0x7E: result.unicodeScalars.append(UnicodeScalar(byte))
      default: result += "\\" + (byte < 100 ? byte < 10 ? "00" : "0" : "") + String(byte)
      }
    }
    return result + "\""
  }
}
