/// Every bound of this room, with its unit and its reason.
enum Limits {
  /// Updates that wait for one slow subscriber, more only when it watches more hosts.
  ///
  /// A burst at an outage is some tens; beyond this many a subscriber is
  /// better served by the state as it is than by old news.
  static let pendingUpdates = 256

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

  /// Outcomes of checks that are remembered for those who content themselves with an older one: about 1 KiB each.
  static let rememberedOutcomes = 1_024

  /// The longest wait, some 95 years: a clock cannot count much further.
  static let longestWait = Duration.seconds(3_000_000_000)

  /// How much longer than its time a wait on a started monitor goes on at the most to hear its first verdicts, which take
  /// one question to the kernel.
  static let firstVerdicts = Duration.seconds(1)

  /// How long after one check began a target that is waited for is asked again, unless its way changes before.
  static let waitRetry = Duration.seconds(1)

  /// Registered targets of one schedule, by default: each costs about 2 KiB.
  static let registeredTargets = 10_000

  /// Checks at once, by default: each may hold a descriptor and some kilobytes, and 10,000 targets of 20 ms need 20.
  static let checksAtOnce = 1_024

  /// Checks at once to one host, by default: a host with a hundred services is not flooded, and one that answers none
  /// holds up its own checks only.
  static let checksPerHost = 32

  /// Checks that begin in one tick at the most, also when a route change makes thousands due: 51,200 a second.
  static let checkBurst = 256

  /// The step of the schedule: checks begin at most this much after their moment.
  static let wheelTick = Duration.milliseconds(5)

  /// Ticks of one round of the timing wheel, 20 s: longer waits are looked at once a round.
  static let wheelSlots = 4_096

  /// How often the schedule's timer shows, while checks are under way, that this process lives.
  static let signOfLife = Duration.milliseconds(100)

  /// Silence of that timer after which the process must have stood still: results that came through it are asked again.
  static let stall = Duration.milliseconds(500)

  /// How many results in a row are thrown away as doubtful before one counts after all: a machine that is starved for
  /// good must not be silent about its targets.
  static let repeatedChecks = 3

  /// Changes of targets that are numbered in one step: the engine's lock is held some 10 µs for each.
  static let recordedAtOnce = 64
}
