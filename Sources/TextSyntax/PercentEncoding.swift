/// Percent-encoding (RFC 3986 §2.1).
package enum PercentEncoding {
  /// Encodes a text; `isPlain` selects the bytes that remain: by default those that no part of a query gives a meaning.
  package static func encoded(_ text: some StringProtocol, except isPlain: (UInt8) -> Bool = isUnreserved) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    let bytes = text.utf8.flatMap { byte in
      isPlain(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether a byte is an unreserved character (RFC 3986 §2.3) or a comma, which separates the elements of a list.
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2c, 0x2d, 0x2e, 0x5f, 0x7e: true
    default: false
    }
  }
}
