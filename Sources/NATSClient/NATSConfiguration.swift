/// The settings of a connection.
public struct NATSConfiguration: Sendable, Hashable {
  /// The servers: `nats://HOST:PORT`, `tls://HOST:PORT`; any of them, in random order.
  public var servers: [String]
  /// The name that the server reports for this connection.
  public var name: String
  /// The first tokens of the subjects for replies, without a dot at the end: a server's rules can then allow them to one
  /// user only.
  public var inboxPrefix: String
  /// The first tokens of the subjects to which consumers deliver, without a dot at the end.
  public var deliveryPrefix: String
  /// Whether each subscription has a thread of its own; otherwise the handlers of all such connections run on one.
  public var hasThreads: Bool
  /// The user; nil for none, or the one in the servers' URLs.
  public var credentials: NATSCredentials?
  /// A file with the certificates of authorities, PEM, which requires TLS; nil for those of the system.
  public var authorityFile: String?

  /// Creates settings.
  public init(
    servers: [String], name: String, inboxPrefix: String, deliveryPrefix: String? = nil, hasThreads: Bool = false,
    credentials: NATSCredentials? = nil, authorityFile: String? = nil
  ) {
    self.servers = servers
    self.name = name
    self.inboxPrefix = inboxPrefix
    self.deliveryPrefix = deliveryPrefix ?? inboxPrefix
    self.hasThreads = hasThreads
    self.credentials = credentials
    self.authorityFile = authorityFile
  }

  /// Whether connections must use TLS.
  var requiresTLS: Bool { authorityFile != nil || servers.contains { $0.hasPrefix("tls:") } }
}

/// What proves the user of a connection.
public enum NATSCredentials: Sendable, Hashable {
  /// A file with a JWT and a seed (`nsc generate creds`); it is read at each connection.
  case token(file: String)
  /// The public key of a user, and a file that contains its seed; it is read at each connection.
  case key(publicKey: String, file: String)

  /// Recognizes the content of a credentials file; nil when it is neither.
  ///
  /// A file with `-----BEGIN NATS USER JWT-----` is a token. A key's file has the seed (`SU…`) and the public key (`U…`)
  /// in lines of their own, as `nk -gen user -pubout` writes them.
  public init?(content: String, path: String) {
    guard content.utf8.count <= Limits.credentialBytes else { return nil }
    if content.contains("BEGIN NATS USER JWT") {
      self = .token(file: path)
      return
    }
    let lines = content.split { $0.isNewline }.map { line in String(line.filter { !$0.isWhitespace }) }
    let keys = lines.filter { $0.utf8.count == Self.publicKeyLength && $0.hasPrefix("U") && Self.isBase32($0) }
    let seeds = lines.filter { $0.utf8.count == Self.seedLength && $0.hasPrefix("SU") && Self.isBase32($0) }
    guard let key = keys.first, keys.count == 1, seeds.count == 1 else { return nil }
    self = .key(publicKey: key, file: path)
  }

  /// 32 bytes of key, a prefix and a checksum in base 32; a seed has one byte of prefix more.
  private static let publicKeyLength = 56
  private static let seedLength = 58

  private static func isBase32(_ text: String) -> Bool {
    text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || (50...55).contains($0) }
  }
}
