/// The bounds of this module, with unit and reason.
enum Limits {
  /// Cached outcomes, for callers that accept an older one: about 1 KiB each.
  static let cachedOutcomes = 1_024

  /// The longest wait, about 95 years: clock arithmetic overflows beyond.
  static let longestWait = Duration.seconds(3_000_000_000)

  /// The time between the starts of two checks in a wait, unless the route changes before.
  static let waitRetry = Duration.seconds(1)

  /// Checks that start in one tick, also when a route change makes thousands due: 51,200 per second.
  static let checkBurst = 256

  /// Checks that start in one tick on the prober's thread, which reads no answers meanwhile: about half a millisecond.
  static let threadBurst = 32

  /// The resolution of the schedule: checks start at most this late.
  static let wheelTick = Duration.milliseconds(5)

  /// The distance of the phases of regular checks.
  ///
  /// Each time with a due check wakes two threads; with 1,000 checks a second ten share that. It delays no check, because the
  /// phase within the interval is arbitrary.
  static let phaseStep = Duration.milliseconds(10)

  /// Slots of the timing wheel, 20 s: entries that are further ahead are examined once per revolution.
  static let wheelSlots = 4_096

  /// Entries of the timing wheel, in addition to two for each target, before outdated ones are removed.
  static let staleWheelEntries = 1_024

  /// The heartbeat interval of the schedule's timer while checks are running.
  static let heartbeat = Duration.milliseconds(100)

  /// A heartbeat delay that shows that the process was suspended: failures during it are checked again.
  static let stall = Duration.milliseconds(500)

  /// Consecutive results that are discarded as unreliable: an overloaded machine must still report its targets.
  static let retries = 3

  /// The least time between two events about the results of a flapping target, and the longest interval to which it applies.
  ///
  /// A target that is checked less often cannot have more events; the next result follows soon enough to be the event.
  static let flappingReports = Duration.seconds(1)

  /// Changes of targets that are published under one lock: the engine's lock is held about 10 µs for each.
  static let changesPerLock = 64

  /// The least time between the closing of a gate and its next opening: two events a second, however often members change.
  static let gatePause = Duration.seconds(1)

  /// Members of a gate: a change of one is evaluated in some microseconds, and the worst of all are found in a fraction of a millisecond.
  static let gateMembers = 10_000

  /// The time after which the members of gates that select too many targets are counted again, which takes about a millisecond each.
  static let gateRecount = Duration.seconds(1)

  /// The time since an earlier process stored something, or two intervals of a target, during which a restored `up` counts for gates.
  static let restoredResult = Duration.seconds(10)

  /// Checks of parents that run at once besides the scheduled ones, which they must not wait for.
  static let dependencySlots = 256

  /// The least time between two checks of a parent on behalf of its children, or its fast interval.
  static let dependencyPause = Duration.seconds(1)

  /// How long a child waits for a parent whose check has begun, in addition to twice the timeout: a check may be running already.
  static let dependencyGrace = Duration.seconds(1)

  /// How long a child waits for a parent at most.
  static let dependencyWait = Duration.seconds(60)

  /// The longest time over which the checks of many children are spread after a recovery, and the least between two of a child.
  static let recoverySpread = Duration.seconds(5)

  /// Children of a parent that are checked without delay after its recovery.
  static let recoveryBurst = 100

  /// Reports that are read under one lock: at about 0.2 µs each.
  static let reportsPerLock = 256
}
