/// The bounds of this module, with unit and reason.
enum Limits {
  /// Updates that wait for one slow subscriber; more only when it watches more hosts.
  ///
  /// An outage causes some tens of updates. A subscriber that is further behind needs the present state more than old changes.
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

  /// Prefixes without a route that are kept, in addition to as many as have one, until an audit removes them.
  static let idlePrefixes = 1024

  /// Unused paths that are kept, in addition to twice the number of targets and classes.
  static let idlePaths = 4096

  /// Targets that an audit looks up to compare with the answers of their classes: 64 requests fit one send.
  static let auditSamples = 64

  /// The delay before a route that has expired is looked up again while the kernel still returns it.
  ///
  /// The kernel counts lifetimes in clock ticks of up to 10 ms.
  static let expiredRouteRecheck = Duration.milliseconds(10)

  /// The interval at which routes with a lifetime are looked up, because a router advertisement may shorten it without an
  /// event: one lookup for each class of targets behind such a route.
  static let expiryCheck = Duration.seconds(5)

  /// How long an expired route is looked up.
  ///
  /// The kernel removes expired IPv6 routes every 30 seconds
  /// (`net.ipv6.route.gc_interval`), and until then an advertisement renews them without an event.
  static let revivalPeriod = Duration.seconds(65)

  /// How long before its end a route's lifetime can no longer be read: three clock ticks, with a margin.
  static let unreadableLifetime = Duration.milliseconds(100)

  /// Watched names that are looked up concurrently: four times the resolver's own concurrency, so that it is never idle.
  static let concurrentNames = 256

  /// The least time between two renewals of all names: a flapping link must not flood the name servers.
  static let renewalInterval = Duration.seconds(1)

  /// The bounds of an answer's time to live, and the delay before a failed name is looked up again.
  static let shortestTimeToLive = Duration.seconds(5)
  static let longestTimeToLive = Duration.seconds(300)
  static let failedNameRetry = Duration.seconds(5)

  /// The longest wait, about 95 years: clock arithmetic overflows beyond.
  static let longestWait = Duration.seconds(3_000_000_000)

  /// How much longer than its timeout a wait on a started monitor waits for its first verdicts, which take one lookup.
  static let firstVerdicts = Duration.seconds(1)
}
