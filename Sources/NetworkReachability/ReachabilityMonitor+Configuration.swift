public import Logging
public import ReachabilityModel

extension ReachabilityMonitor {
  /// The settings of a monitor.
  public struct Configuration: Sendable {
    /// The delay before a loss is reported, so that a replaced route is not an outage; zero for none, 10 ms by default.
    ///
    /// All other changes are reported immediately.
    public var settle: Duration
    /// The name servers, in order of preference; empty for those of `/etc/resolv.conf`.
    ///
    /// Each is an IPv4 or IPv6 address with an optional port (default 53): `10.0.0.53`, `127.0.0.1:5353`, `2001:db8::53`,
    /// `[::1]:5353`. Host names are not accepted, nor are IPv6 zones with c-ares 1.18. With an invalid element every name
    /// except `localhost` (RFC 6761) fails with `dnsServerFailure`, including those of the hosts file.
    public var nameServers: [String]
    /// The timeout of one name's lookup, from which the retry interval of each server follows; 5 s by default, as
    /// resolv.conf(5) has for one server.
    public var nameTimeout: Duration
    /// Which types of interface count; any by default.
    ///
    /// A route through another interface does not count, for this machine and for hosts, as with NWPathMonitor's
    /// `requiredInterfaceType` and `prohibitedInterfaceTypes`.
    public var interfaceRequirement: InterfaceRequirement
    /// Corrections of interface properties that the kernel does not report; ignored with a scripted kernel.
    public var interfaceOverrides: [InterfaceOverride]
    /// Receives one log line for each transition, at level info, and the failures of reading the kernel; none by default.
    public var logger: Logger

    /// Settings, each with a default.
    public init(
      settle: Duration = .milliseconds(10), nameServers: [String] = [], nameTimeout: Duration = .seconds(5),
      interfaceRequirement: InterfaceRequirement = .none, interfaceOverrides: [InterfaceOverride] = [],
      logger: Logger = Logger(label: "reachability", factory: { _ in SwiftLogNoOpLogHandler() })
    ) {
      self.settle = settle
      self.nameServers = nameServers
      self.nameTimeout = nameTimeout
      self.interfaceRequirement = interfaceRequirement
      self.interfaceOverrides = interfaceOverrides
      self.logger = logger
    }
  }
}
