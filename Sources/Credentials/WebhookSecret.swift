internal import CGnuTLS

/// The shared secret of a webhook in the form of the Standard Webhooks specification 1.0.0: `whsec_` and the base64 form
/// of 24 to 64 random bytes.
///
/// The receiver computes the same signature (HMAC-SHA256, RFC 2104): a request with it comes from an owner of the secret and
/// is unchanged.
public struct WebhookSecret: Sendable, Equatable, CustomStringConvertible {
  /// The sizes of a secret, in bytes.
  public static let sizes = 24...64
  private static let prefix = "whsec_"
  private static let signatureSize = 32

  private let key: [UInt8]

  /// Parses a secret; nil for any other text, and for fewer or more bytes than ``sizes``.
  public init?(_ text: some StringProtocol) {
    guard text.hasPrefix(Self.prefix), let key = Base64.decode(text.dropFirst(Self.prefix.count)),
      Self.sizes.contains(key.count)
    else { return nil }
    self.key = key
  }

  /// Signs one attempt to deliver a message.
  ///
  /// - Parameters:
  ///   - id: the id of the message, which has no full stop, because full stops separate the signed parts.
  ///   - timestamp: the time of the attempt in seconds since 1970.
  ///   - body: the body as it is sent.
  /// - Returns: the signature as the field `webhook-signature` contains it, `v1,<base64>`; nil when GnuTLS refuses.
  public func signature(id: String, timestamp: Int64, body: [UInt8]) -> String? {
    let content = Array("\(id).\(timestamp).".utf8) + body
    var bytes = [UInt8](repeating: 0, count: Self.signatureSize)
    guard unsafe gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, key.count, content, content.count, &bytes) == 0,
      let text = Base64.encode(bytes)
    else { return nil }
    return "v1,\(text)"
  }

  /// Compares in constant time.
  public static func == (left: WebhookSecret, right: WebhookSecret) -> Bool {
    unsafe left.key.count == right.key.count && gnutls_memcmp(left.key, right.key, left.key.count) == 0
  }

  /// The prefix only, so that log lines and messages do not disclose the secret.
  public var description: String { "\(Self.prefix)…" }
}

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
