internal import CGnuTLS

/// Base64 with padding and without line ends (RFC 4648 §4).
enum Base64 {
  static func encode(_ bytes: [UInt8]) -> String? {
    unsafe convert(bytes) { unsafe gnutls_base64_encode2($0, $1) }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Decodes a text; nil for any character outside the alphabet and for missing padding.
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let digits = Array(text.utf8)
    // GnuTLS skips characters that are not in the alphabet.
    guard !digits.isEmpty, digits.count % 4 == 0, digits.allSatisfy(isDigit) else { return nil }
    return unsafe convert(digits) { unsafe gnutls_base64_decode2($0, $1) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): true
    default: false
    }
  }

  private static func convert(
    _ bytes: [UInt8],
    _ body: (UnsafePointer<gnutls_datum_t>, UnsafeMutablePointer<gnutls_datum_t>) -> Int32
  ) -> [UInt8]? {
    var bytes = bytes
    return unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      var input = unsafe gnutls_datum_t(data: buffer.baseAddress, size: UInt32(buffer.count))
      var output = unsafe gnutls_datum_t()
      guard unsafe body(&input, &output) == 0, let data = unsafe output.data else { return nil }
      defer { unsafe CGnuTLS_free(data) }
      return unsafe Array(UnsafeBufferPointer(start: data, count: Int(output.size)))
    }
  }
}
