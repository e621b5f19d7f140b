internal import HostResolver

/// Every limit of this module, with its unit and its reason.
enum Limits {
  /// Updates that wait for one slow subscriber, or twice the number of hosts that it watches, if that is more.
  ///
  /// An outage causes some tens of updates. A subscriber that is further behind receives the present state instead of
  /// the old changes.
  static let pendingUpdates = 256

  /// How long an evaluation waits for the kernel's RTNL lock before it is completed without the lock.
  ///
  /// It usually takes microseconds; a process that removes ten thousand interfaces holds the lock for seconds, in any
  /// network namespace.
  static let lockTimeout = Duration.seconds(2)

  /// The interval, in milliseconds, of the check for evaluations beyond ``lockTimeout``.
  static let lockTimeoutInterval = 250

  /// Targets that one monitor watches for subscriptions.
  ///
  /// The cost of a kernel event depends on what it affects, not on this number. A target takes about 300 bytes, pairs and
  /// names about three times as much.
  static let watchedTargets = 100_000

  /// Prefixes without a route that are kept until an audit removes them: this number plus the number of routes.
  static let idlePrefixes = 1024

  /// Unused paths that are kept: this number plus twice the number of targets and classes.
  static let idlePaths = 4096

  /// Targets that an audit looks up and compares with the answers for their classes: 64 requests fit in one send(2).
  static let auditSamples = 64

  /// The delay before a route that has expired is looked up again while the kernel still returns it.
  ///
  /// The kernel counts lifetimes in clock ticks of up to 10 ms.
  static let expiredRouteRecheck = Duration.milliseconds(10)

  /// The interval at which routes with a lifetime are looked up, because a router advertisement may shorten it without an
  /// event: one lookup for each class of targets behind such a route.
  static let expiryCheck = Duration.seconds(5)

  /// How long the lookups of an expired route continue.
  ///
  /// The kernel removes expired IPv6 routes every 30 seconds (`net.ipv6.route.gc_interval`). Until then, an
  /// advertisement renews them without an event.
  static let revivalPeriod = Duration.seconds(65)

  /// The period before the end of a route's lifetime in which the kernel may report no lifetime: three clock ticks, and
  /// a margin.
  static let unreadableLifetime = Duration.milliseconds(100)

  /// Watched names that are looked up concurrently: four times the resolver's own concurrency, so that the resolver
  /// always has a next name.
  static let concurrentNames = 256

  /// Names of ephemeral subscriptions that are looked up concurrently: as many as the resolver queries, so that the wait for
  /// its limit of queries does not count as the time of a lookup.
  static let concurrentEphemeralNames = 64

  /// The limit of queries for the names that clients of the service watch, and again for those that they look up once.
  ///
  /// Clients need no authorization. A stream of 64 names needs 128 queries, and four times as many with a search list of three
  /// domains.
  static let clientQueries = ResolverConfiguration.QueryLimit(perSecond: 200, atOnce: 256)

  /// The time between two lookups of any name that the same client of the service watches: ten queries a second.
  static let clientNameInterval = Duration.milliseconds(200)

  /// The minimum time between two renewals of all names: a flapping link must not flood the name servers.
  static let renewalInterval = Duration.seconds(1)

  /// The bounds of an answer's time to live.
  static let shortestTimeToLive = Duration.seconds(5)
  static let longestTimeToLive = Duration.seconds(300)
  /// The delay before a failed name is looked up again.
  static let failedNameRetry = Duration.seconds(5)

  /// The longest wait, about 95 years: arithmetic on longer ones overflows.
  static let longestWait = Duration.seconds(3_000_000_000)

  /// The time that a wait on a started monitor has for its first verdicts after its timeout: they need one lookup.
  static let firstVerdicts = Duration.seconds(1)
}
