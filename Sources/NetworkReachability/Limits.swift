/// Every bound of this room, with its unit and its reason.
enum Limits {
  /// Updates that wait for one slow subscriber, more only when it watches more hosts.
  ///
  /// A burst at an outage is some tens; beyond this many a subscriber is
  /// better served by the state as it is than by old news.
  static let pendingUpdates = 256

  /// How long a question waits for the kernel's lock before it is answered without it.
  ///
  /// Usually that takes microseconds; whoever removes ten thousand interfaces holds it for seconds, in any namespace.
  static let questionPatience = Duration.seconds(2)

  /// How often is looked for questions that have waited so long, in milliseconds.
  static let patienceWatch = 250

  /// Targets that one monitor watches.
  ///
  /// What a kernel event costs depends on what it touches, not on their number; each costs some 300 bytes, pairs and names
  /// about three times as much.
  static let watchedTargets = 100_000

  /// Blocks without routes that are kept besides as many as have some, until an audit drops them.
  static let idleBlocks = 1024

  /// Paths that no target has any more and that are kept besides twice as many as there are targets and classes.
  static let idlePaths = 4096

  /// Targets that an audit asks about by themselves, to compare with what their class says: 64 questions are one send.
  static let auditSamples = 64

  /// How soon to look again at a route whose life is over but which the kernel still answers with.
  ///
  /// The kernel counts
  /// lives in clock ticks of 10 ms, so one tick is the least that can make a difference.
  static let expiredRouteRecheck = Duration.milliseconds(10)

  /// How often routes that run out are looked at before their end, because a router may shorten a life without any event: one
  /// question for each class of targets behind one.
  static let expiryCheck = Duration.seconds(5)

  /// How long a route that has run out is asked about all the same: the kernel collects such IPv6 routes every 30 seconds
  /// (`net.ipv6.route.gc_interval`), and until then an advertisement revives them without an event.
  static let revivalWatch = Duration.seconds(65)

  /// How long before its end a route's life can no longer be read: three of those ticks, and some to be sure.
  static let unreadableLife = Duration.milliseconds(100)

  /// Watched names asked at a time: four times what the resolver has on the wire, so that it never waits for us, and far
  /// less than it takes in.
  static let namesAsked = 256

  /// How long after all names were asked anew they may be again: a link that flaps must not flood the name servers.
  static let renewalPause = Duration.seconds(1)

  /// How long a name's answer is trusted at the least and at the most, and how soon a failed one is asked again.
  static let shortestNameLife = Duration.seconds(5)
  static let longestNameLife = Duration.seconds(300)
  static let failedNameRetry = Duration.seconds(5)

  /// The longest wait, some 95 years: a clock cannot count much further.
  static let longestWait = Duration.seconds(3_000_000_000)

  /// How much longer than its time a wait on a started monitor goes on at the most to hear its first verdicts, which take
  /// one question to the kernel.
  static let firstVerdicts = Duration.seconds(1)
}
