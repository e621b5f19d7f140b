internal import CGnuTLS
internal import TextSyntax

/// A bearer token (RFC 6750): `rx_ID_SECRET`, where the secret is 256 random bits in hexadecimal.
///
/// The service stores the digest of the whole text and never the secret. The id is not secret: it names the token in
/// configurations and logs.
public struct BearerToken: Sendable, CustomStringConvertible {
  /// The longest id, in bytes.
  public static let longestID = 32
  /// Bytes of a secret.
  static let secretSize = 32
  private static let prefix = "rx_"

  /// The id: lower-case letters, digits and hyphens.
  public let id: String
  /// The token as it is sent; possession grants its rights.
  public let text: String

  /// Parses a token; nil when the text is not one.
  public init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    let parts = text.dropFirst(Self.prefix.count).split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 2, Self.isID(parts[0]), parts[1].utf8.count == 2 * Self.secretSize,
      parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    id = String(parts[0])
    self.text = text
  }

  /// Creates a random token.
  ///
  /// - Parameter id: the token's id; nil for eight random digits.
  /// - Returns: nil when `id` is not a valid id, or when GnuTLS returns no random bytes.
  public static func make(id: String? = nil) -> BearerToken? {
    guard let secret = random(secretSize), let name = id ?? random(4)?.hexadecimal else { return nil }
    return BearerToken("\(prefix)\(name)_\(secret.hexadecimal)")
  }

  /// Whether a text is a valid id: 1 to 32 lower-case letters, digits and hyphens.
  public static func isID(_ text: some StringProtocol) -> Bool {
    (1...longestID).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7a).contains($0) || $0 == 0x2d }
  }

  /// The digest of the whole text, as a configuration stores it.
  public var digest: SHA256Digest? { SHA256Digest(of: text.utf8) }

  /// The token without its secret, so that log lines and messages do not disclose it.
  public var description: String { "\(Self.prefix)\(id)_…" }

  private static func random(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return unsafe gnutls_rnd(GNUTLS_RND_KEY, &bytes, bytes.count) == 0 ? bytes : nil
  }
}
