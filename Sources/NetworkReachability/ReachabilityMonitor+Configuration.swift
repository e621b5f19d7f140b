public import Logging
public import ReachabilityModel

extension ReachabilityMonitor {
  /// The settings of a monitor.
  public struct Configuration: Sendable {
    /// How long a loss waits before it is told, so that a route that is replaced is no outage; zero for not at all.
    ///
    /// Gains and changes of the way are told at once. Default 10 ms.
    public var settle: Duration
    /// The name servers to ask, in this order; empty for those of `/etc/resolv.conf`.
    ///
    /// Each is an IPv4 or IPv6 address, perhaps with a port (53 unless given): `10.0.0.53`, `127.0.0.1:5353`,
    /// `2001:db8::53`, `[::1]:5353`. Names of servers are none, nor are IPv6 zones for c-ares 1.18. With one text that is
    /// something else, every name but `localhost` (RFC 6761) fails with `dnsServerFailure`, those of the hosts file
    /// included.
    public var nameServers: [String]
    /// How long the name servers have to answer for one name, which also sets how soon each is asked again; default 5 s,
    /// the time that resolv.conf(5) gives one of them.
    public var nameTimeout: Duration
    /// Which types of interface may carry the traffic that is judged; default any.
    ///
    /// With a requirement, a way out through another interface does not count, for this machine as for hosts: what
    /// NWPathMonitor's `requiredInterfaceType` and `prohibitedInterfaceTypes` say.
    public var interfaceRequirement: InterfaceRequirement
    /// What is known better about interfaces than the kernel shows; not used with a kernel of one's own.
    public var interfaceOverrides: [InterfaceOverride]
    /// Where log lines go: one a transition, at info.
    public var logger: Logger

    /// Settings with defaults for everything.
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
