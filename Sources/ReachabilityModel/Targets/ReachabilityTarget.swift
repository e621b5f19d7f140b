/// The subject of a verdict: the default path, the local link, an address or a name.
///
/// It may be restricted to one source address, one interface, or packets of one protocol and port.
public struct ReachabilityTarget: Hashable, Sendable {
  /// The remote end.
  public enum Remote: Hashable, Sendable {
    /// The default path of either family, which SCNetworkReachability looks up as 0.0.0.0 or ::.
    case defaultPath
    /// Whether there is a usable local network, which Apple's sample looks up as 169.254.0.0.
    case localLink
    /// One address; IPv4-mapped IPv6 is evaluated as IPv4.
    case address(IPAddress)
    /// A host name, resolved when it is evaluated.
    case name(String)
  }

  /// The remote end.
  public var remote: Remote
  /// The source address of packets; nil for the kernel's choice.
  public var source: IPAddress?
  /// The interface that packets must leave through, by name; nil for the kernel's choice.
  public var interface: String?
  /// The protocol and port of packets, which policy rules may match; nil for a TCP connection without a port.
  public var transport: TransportSelector?

  /// Creates a target.
  public init(
    _ remote: Remote, source: IPAddress? = nil, interface: String? = nil, transport: TransportSelector? = nil
  ) {
    self.remote = remote
    self.source = source
    self.interface = interface
    self.transport = transport
  }

  /// The default path.
  public static let `default` = ReachabilityTarget(.defaultPath)
  /// The local network.
  public static let localLink = ReachabilityTarget(.localLink)

  /// `name`, `address`, `pair`, `default` or `localLink`.
  public var kind: String {
    switch remote {
    case .defaultPath: "default"
    case .localLink: "localLink"
    case .address: source == nil ? "address" : "pair"
    case .name: "name"
    }
  }
}

/// Why a text is not a target: what is wrong, and what would be right.
public struct TargetError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public let problem: String
  /// What would be right.
  public let hint: String

  /// Creates an error with its hint.
  public init(_ problem: String, hint: String) {
    self.problem = problem
    self.hint = hint
  }

  /// The problem and the hint in one line.
  public var description: String { "\(problem); \(hint)" }
}
