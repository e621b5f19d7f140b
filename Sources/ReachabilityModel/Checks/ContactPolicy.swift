/// The addresses that a caller may make the service contact: protection against server-side request forgery.
///
/// It applies to addresses, never to names. After resolution it is applied to every address of a name; the connection
/// goes to exactly the address that passed, and the peer of the connected socket is checked again. A denial discloses
/// nothing about the DNS.
public struct ContactPolicy: Hashable, Sendable {
  /// The default for addresses that are in no list.
  public enum Profile: String, Hashable, Sendable, CaseIterable {
    /// Everything except special addresses, this machine's, and cloud metadata.
    ///
    /// Private networks (RFC 1918, RFC 4193) are permitted, because they are commonly monitored.
    case `default`
    /// As ``default``, without private networks.
    case strict
  }

  /// The default for addresses that are in no list.
  public var profile: Profile
  /// Blocks that are permitted in addition; for a metadata address, only a block of exactly that address.
  public var allow: [IPPrefix]
  /// Blocks that are denied, regardless of other rules.
  public var deny: [IPPrefix]
  /// This machine's addresses: denied unless permitted, because local services may trust local clients.
  public var own: Set<IPAddress>
  /// The service's own listening ports: denied on this machine's and loopback addresses, regardless of other rules.
  public var ownPorts: Set<UInt16>

  /// Creates a policy.
  public init(
    profile: Profile = .default, allow: [IPPrefix] = [], deny: [IPPrefix] = [], own: Set<IPAddress> = [],
    ownPorts: Set<UInt16> = []
  ) {
    self.profile = profile
    self.allow = allow
    self.deny = deny
    self.own = own
    self.ownPorts = ownPorts
  }
}
