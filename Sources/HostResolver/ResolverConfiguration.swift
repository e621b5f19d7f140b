/// The servers, timeouts and cache limits of a resolver.
public struct ResolverConfiguration: Sendable, Equatable {
  /// The DNS servers, queried in this order; empty for those of `resolvConfPath`.
  ///
  /// Examples: `127.0.0.1`, `127.0.0.1:5353`, `[::1]:53`. With an invalid list every request fails with
  /// ``HostResolutionFailure/serverFailure(_:)``.
  public var servers: [String]

  /// The default deadline of a request: every server is queried three times within it.
  ///
  /// A request may have another deadline; this one determines the intervals of retransmissions.
  public var timeout: Duration

  /// The file with the servers, the search list and the options (resolv.conf(5)), which is read again when it
  /// changes.
  ///
  /// Its `timeout` and `attempts` options are not used. The hosts file is always `/etc/hosts`.
  public var resolvConfPath: String

  /// The shortest and longest time an answer is cached, regardless of its time to live.
  public var cacheBounds: ClosedRange<Duration>

  /// How long the absence of an address is cached: 1 s to 30 s.
  ///
  /// The time is fixed because c-ares does not expose the SOA record, whose minimum RFC 2308 would use.
  public var negativeTimeToLive: Duration

  /// The number of cached names: at most 4,096; 0 turns the cache off.
  public var cacheEntries: Int

  /// The limit of queries to the servers; nil for none.
  public var queryLimit: QueryLimit?

  /// Makes a configuration; the defaults suit a machine with an ordinary `/etc/resolv.conf`.
  public init(
    servers: [String] = [], timeout: Duration = .seconds(5), resolvConfPath: String = "/etc/resolv.conf",
    cacheBounds: ClosedRange<Duration> = .seconds(1) ... .seconds(300),
    negativeTimeToLive: Duration = .seconds(5), cacheEntries: Int = 4_096,
    queryLimit: QueryLimit? = nil
  ) {
    self.servers = servers
    self.timeout = timeout
    self.resolvConfPath = resolvConfPath
    self.cacheBounds = cacheBounds
    self.negativeTimeToLive = negativeTimeToLive
    self.cacheEntries = cacheEntries
    self.queryLimit = queryLimit
  }

  /// How many queries a resolver sends.
  ///
  /// A name costs two queries, one for each family, for each domain of the search list that is tried. A query that is
  /// repeated because no server has answered is not counted again. Names beyond the limit wait.
  public struct QueryLimit: Sendable, Equatable {
    /// Queries per second.
    public var perSecond: Int
    /// Queries in a burst after a pause.
    public var atOnce: Int

    /// Makes a limit.
    public init(perSecond: Int, atOnce: Int) {
      self.perSecond = perSecond
      self.atOnce = atOnce
    }
  }
}
