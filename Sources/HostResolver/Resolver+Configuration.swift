extension Resolver {
  /// What a resolver asks, how patiently, and how long it remembers.
  public struct Configuration: Sendable, Equatable {
    /// The DNS servers, asked in this order; empty for those of `resolvConfPath`.
    ///
    /// Such as `127.0.0.1`, `127.0.0.1:5353`, `[::1]:53`. An unusable list fails every request with ``ResolutionFailure/serverFailure(_:)``.
    public var servers: [String]

    /// The usual deadline of a request: every server is asked three times within it.
    ///
    /// Requests may have deadlines of their own; this one sets the pace of retransmissions.
    public var timeout: Duration

    /// The file with the servers, the search list and the options (resolv.conf(5)), followed when it changes.
    ///
    /// Its `timeout` and `attempts` options are not used. The hosts file is always `/etc/hosts`.
    public var resolvConfPath: String

    /// The shortest and longest time an answer is remembered, whatever its time to live says.
    public var cacheBounds: ClosedRange<Duration>

    /// How long it is remembered that a name has no address: 1 s to 30 s.
    ///
    /// A fixed time, because c-ares hands out no SOA record, whose minimum RFC 2308 would use.
    public var negativeTimeToLive: Duration

    /// How many names are remembered: at most 4,096; 0 turns the memory off.
    public var cacheEntries: Int

    /// Makes a configuration; the defaults suit a machine with an ordinary `/etc/resolv.conf`.
    public init(
      servers: [String] = [], timeout: Duration = .seconds(5), resolvConfPath: String = "/etc/resolv.conf",
      cacheBounds: ClosedRange<Duration> = .seconds(1) ... .seconds(300),
      negativeTimeToLive: Duration = .seconds(5), cacheEntries: Int = 4_096
    ) {
      self.servers = servers
      self.timeout = timeout
      self.resolvConfPath = resolvConfPath
      self.cacheBounds = cacheBounds
      self.negativeTimeToLive = negativeTimeToLive
      self.cacheEntries = cacheEntries
    }
  }
}
