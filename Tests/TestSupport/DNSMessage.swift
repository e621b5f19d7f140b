/// Just enough of RFC 1035 to read a question and write an answer.
public struct DNSMessage {
  /// The record type A.
  public static let a: UInt16 = 1
  /// The record type CNAME.
  public static let cname: UInt16 = 5
  /// The record type AAAA.
  public static let aaaa: UInt16 = 28

  struct Record {
    let owner: String
    let type: UInt16
    let timeToLive: UInt32
    let data: [UInt8]
  }

  let id: UInt16
  /// The name that is asked for.
  public let name: String
  /// The type of the records that are asked for.
  public let type: UInt16
  /// The question section as it came: c-ares compares it.
  let question: [UInt8]

  /// The question in a message; nil when there is none.
  public init?(query bytes: [UInt8]) {
    guard bytes.count > 12 else { return nil }
    id = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    var index = 12
    var labels: [String] = []
    while index < bytes.count, bytes[index] != 0 {
      let end = index + 1 + Int(bytes[index])
      guard end < bytes.count else { return nil }
      labels.append(String(decoding: bytes[(index + 1)..<end], as: UTF8.self))
      index = end
    }
    guard index + 5 <= bytes.count else { return nil }
    name = labels.joined(separator: ".").lowercased()
    type = UInt16(bytes[index + 1]) << 8 | UInt16(bytes[index + 2])
    question = Array(bytes[12..<(index + 5)])
  }

  /// An answer to this query.
  func answer(code: UInt8, records: [Record], isTruncated: Bool = false, idOffset: UInt16 = 0) -> [UInt8] {
    var bytes = Self.pair(id &+ idOffset)
    bytes += [isTruncated ? 0x87 : 0x85, 0x80 | code]  // QR, AA, RD (and TC); RA
    bytes += [0, 1] + Self.pair(UInt16(records.count)) + [0, 0, 0, 0]
    bytes += question
    for record in records {
      bytes += Self.encoded(record.owner) + Self.pair(record.type) + [0, 1]
      bytes += Self.pair(UInt16(record.timeToLive >> 16)) + Self.pair(UInt16(truncatingIfNeeded: record.timeToLive))
      bytes += Self.pair(UInt16(record.data.count)) + record.data
    }
    return bytes
  }

  /// An answer with one address.
  public func answer(address: [UInt8]) -> [UInt8] {
    answer(code: 0, records: [Record(owner: name, type: type, timeToLive: 60, data: address)])
  }

  /// A name in the form of the wire (RFC 1035 §3.1), without compression.
  public static func encoded(_ name: String) -> [UInt8] {
    name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
  }

  /// A number of two bytes in network order.
  public static func pair(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
}
