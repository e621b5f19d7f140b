/// The protocol and the destination port of packets, by which policy rules may select a routing table (ip-rule(8), `ipproto`
/// and `dport`).
public struct TransportSelector: Hashable, Sendable {
  /// The protocols whose routes are looked up.
  public enum TransportProtocol: UInt8, Hashable, Sendable {
    /// TCP (RFC 9293).
    case tcp
    /// UDP (RFC 768).
    case udp
    /// ICMP for IPv4 destinations, ICMPv6 for IPv6 destinations.
    case icmp
  }

  /// The protocol.
  public var `protocol`: TransportProtocol
  /// The destination port; 0 for none.
  public var port: UInt16

  /// Creates a selector.
  public init(_ protocol: TransportProtocol, port: UInt16 = 0) {
    self.protocol = `protocol`
    self.port = port
  }

  /// `tcp`, `udp` or `icmp`.
  public var name: String { "\(`protocol`)" }
}

extension CheckTarget {
  /// The host with the protocol and the port of the check's packets; without these for `route`, which sends none.
  public var routeTarget: ReachabilityTarget {
    var target = host
    if let transport = scheme.descriptor.transport { target.transport = TransportSelector(transport, port: port ?? 0) }
    return target
  }
}
