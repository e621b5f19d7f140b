/// Whom a caller may have us contact: the guard against server-side request forgery.
///
/// It judges addresses, never names: whoever resolves applies it to every address that a name has, connects to just the
/// address that passed, and asks again what the socket is connected to. A denial tells nothing about the DNS.
public struct ContactPolicy: Hashable, Sendable {
  /// How much is allowed that no list names.
  public enum Profile: String, Hashable, Sendable, CaseIterable {
    /// Everything but what is special, ours, or a cloud's metadata: private networks (RFC 1918, RFC 4193) are what
    /// people monitor.
    case `default`
    /// As ``default``, without private networks.
    case strict
  }

  /// How much is allowed that no list names.
  public var profile: Profile
  /// Blocks that are allowed besides; never metadata addresses, unless a block is exactly that address.
  public var allow: [IPPrefix]
  /// Blocks that are denied, whatever else allows them.
  public var deny: [IPPrefix]
  /// This machine's own addresses: denied unless allowed, because what listens there trusts this machine.
  public var own: Set<IPAddress>
  /// The ports we listen on ourselves: denied on own and loopback addresses, whatever allows these.
  public var ownPorts: Set<UInt16>

  /// A policy.
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
