/// What we are asked about: the way out as such, the local link, an address or a name; perhaps from one source
/// address or through one interface only.
public struct ReachabilityTarget: Hashable, Sendable {
  /// The remote end.
  public enum Remote: Hashable, Sendable {
    /// The default path of either family, as SCNetworkReachability means it by 0.0.0.0 or ::.
    case defaultPath
    /// Whether there is a usable local network at all, as Apple's sample means it by 169.254.0.0.
    case localLink
    /// One address; IPv4-mapped IPv6 is judged as IPv4.
    case address(IPAddress)
    /// A host name, resolved when it is judged.
    case name(String)
  }

  /// The remote end.
  public var remote: Remote
  /// The own address that packets must carry; nil for the kernel's choice.
  public var source: IPAddress?
  /// The interface that packets must leave through, by name; nil for the kernel's choice.
  public var interface: String?

  /// A target.
  public init(_ remote: Remote, source: IPAddress? = nil, interface: String? = nil) {
    self.remote = remote
    self.source = source
    self.interface = interface
  }

  /// The way out as such.
  public static let `default` = ReachabilityTarget(.defaultPath)
  /// The local network as such.
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

/// Why a text is not a target: what is wrong, and what to write instead.
public struct TargetError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong.
  public let problem: String
  /// What to write instead.
  public let hint: String

  /// An error with its hint.
  public init(_ problem: String, hint: String) {
    self.problem = problem
    self.hint = hint
  }

  /// The problem and the hint in one line.
  public var description: String { "\(problem); \(hint)" }
}
