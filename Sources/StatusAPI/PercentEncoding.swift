/// Percent-encoding of query values (RFC 3986).
public enum PercentEncoding {
  /// Encodes all bytes except those that need no encoding.
  public static func encoded(_ text: String) -> String {
    text.utf8.reduce(into: "") { encoded, byte in
      let isPlain =
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        case 0x2c, 0x2d, 0x2e, 0x5f, 0x7e: true
        default: false
        }
      let digits = String(byte, radix: 16, uppercase: true)
      encoded += isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.utf8.count == 1 ? "0" : "") + digits
    }
  }
}
