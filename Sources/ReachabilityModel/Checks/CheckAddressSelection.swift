/// Which addresses of a host a check contacts, and how many must answer.
///
/// Addresses are contacted in the resolver's order, at most sixteen, except those without a route.
public enum CheckAddressSelection: String, Hashable, Sendable, CaseIterable {
  /// The first one that can be contacted; the next one is tried 250 ms after the last one, or when that failed (RFC 8305).
  case any
  /// Only the first one with a route.
  case first
  /// Every one, and each must pass the check.
  ///
  /// An address family without any route is left out.
  case all
}

/// The address families of a name that are checked.
public enum CheckAddressFamily: String, Hashable, Sendable, CaseIterable {
  /// Both families, IPv6 before IPv4 in the resolver's order.
  case any
  /// IPv4 only.
  case ipv4 = "4"
  /// IPv6 only.
  case ipv6 = "6"
}
