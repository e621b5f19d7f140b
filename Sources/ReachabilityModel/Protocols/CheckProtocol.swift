// The lists of protocols (ADR 73): a scheme with its properties, and the type of the options of its modules.

extension CheckTarget {
  /// The protocol of a check.
  public enum Scheme: String, Hashable, Sendable, CaseIterable {
    /// A route lookup for the host; no packet is sent.
    case route
    /// A TCP connection (RFC 9293), optionally with a dialogue.
    case tcp
    /// ICMP echo (RFC 792, RFC 4443).
    case icmp
    /// One HTTP request (RFC 9110).
    case http
    /// One HTTP request over TLS.
    case https
    /// A TLS handshake (RFC 8446, RFC 5246).
    case tls
    /// One DNS query (RFC 1035).
    case dns
  }
}

extension CheckTarget.Scheme {
  package var descriptor: CheckProtocol {
    switch self {
    case .route: CheckProtocol(module: "route")
    case .tcp: CheckProtocol(module: "tcp_connect", transport: .tcp)
    case .icmp: CheckProtocol(module: "icmp", transport: .icmp)
    case .http:
      CheckProtocol(module: "http_2xx", transport: .tcp, defaultPort: 80, suffix: .path, waitingBytes: 40_000)
    case .https:
      CheckProtocol(
        module: "https_2xx", transport: .tcp, usesTLS: true, defaultPort: 443, suffix: .path, waitingBytes: 72_000)
    case .tls: CheckProtocol(module: "tls_connect", transport: .tcp, usesTLS: true, waitingBytes: 72_000)
    case .dns: CheckProtocol(module: "dns_udp", transport: .udp, defaultPort: 53, suffix: .question)
    }
  }

  /// The default port of the scheme; nil where one is required, or where there are no ports.
  public var defaultPort: UInt16? { descriptor.defaultPort }

  /// Whether the scheme has ports.
  public var hasPort: Bool { descriptor.transport == .tcp || descriptor.transport == .udp }
}

extension CheckModule.Options {
  package static let types: [any CheckOptions.Type] = [
    RouteOptions.self, TCPOptions.self, ICMPOptions.self, HTTPOptions.self, TLSOptions.self, DNSOptions.self,
  ]
}

/// The properties of a scheme: what the service needs to know about its targets and its packets.
package struct CheckProtocol: Sendable {
  /// What may follow the host and port of a target.
  package enum Suffix: Sendable {
    case none
    /// The path and query of a URL.
    case path
    /// A question to a DNS server.
    case question
  }

  /// The name of the built-in module, which targets without a module use.
  package var module: String
  /// The protocol of the packets; nil if none is sent.
  package var transport: TransportSelector.TransportProtocol?
  /// Whether there is a TLS session over TCP.
  package var usesTLS = false
  /// The port of a target without one; nil if there are no ports, or if one is required.
  package var defaultPort: UInt16?
  /// What may follow the host and port.
  package var suffix = Suffix.none
  /// Bytes of a check that waits for its peer, for `QuotaMemoryBudget`: by scheme, because a reload may change a module.
  package var waitingBytes = 3_000
}
