internal import CGnuTLS

/// The shared secret of a webhook in the form of the Standard Webhooks specification 1.0.0: `whsec_` and the base64 form
/// of 24 to 64 random bytes.
///
/// The receiver computes the same signature (HMAC-SHA256, RFC 2104): a request with it comes from an owner of the secret and
/// is unchanged.
public struct SigningSecret: Sendable, Equatable, CustomStringConvertible {
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
  public static func == (left: SigningSecret, right: SigningSecret) -> Bool {
    unsafe left.key.count == right.key.count && gnutls_memcmp(left.key, right.key, left.key.count) == 0
  }

  /// The prefix only, so that log lines and messages do not disclose the secret.
  public var description: String { "\(Self.prefix)…" }
}
