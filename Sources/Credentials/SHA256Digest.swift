internal import CGnuTLS
internal import TextSyntax

/// A SHA-256 digest (FIPS 180-4).
///
/// Comparison takes constant time, so that the time of a rejection does not disclose how close a guess was.
public struct SHA256Digest: Sendable, Equatable {
  /// Bytes of a digest.
  static let size = 32

  private let bytes: [UInt8]

  /// The digest of `message`; nil when GnuTLS refuses, as in an integrity failure of its FIPS mode.
  public init?(of message: some Collection<UInt8>) {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    let message = Array(message)
    guard unsafe gnutls_hash_fast(GNUTLS_DIG_SHA256, message, message.count, &bytes) == 0 else { return nil }
    self.bytes = bytes
  }

  /// Reads 64 hexadecimal digits, as sha256sum(1) writes them.
  public init?(hexadecimal text: some StringProtocol) {
    let digits = text.utf8.compactMap(\.hexadecimalValue)
    guard text.utf8.count == 2 * Self.size, digits.count == 2 * Self.size else { return nil }
    bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// 64 hexadecimal digits in lower case.
  public var hexadecimal: String { bytes.hexadecimal }

  /// The base64 form (RFC 4648 §4); nil when GnuTLS has no memory.
  public var base64: String? { Base64.encode(bytes) }

  /// Compares in constant time.
  public static func == (left: SHA256Digest, right: SHA256Digest) -> Bool {
    unsafe gnutls_memcmp(left.bytes, right.bytes, size) == 0
  }
}
