/// Every bound of this room, with its unit and its reason.
enum Limits {
  /// Outcomes of checks that are remembered for those who content themselves with an older one: about 1 KiB each.
  static let rememberedOutcomes = 1_024

  /// The longest wait, some 95 years: a clock cannot count much further.
  static let longestWait = Duration.seconds(3_000_000_000)

  /// How long after one check began a target that is waited for is asked again, unless its way changes before.
  static let waitRetry = Duration.seconds(1)

  /// Checks that begin in one tick at the most, also when a route change makes thousands due: 51,200 a second.
  static let checkBurst = 256

  /// The step of the schedule: checks begin at most this much after their moment.
  static let wheelTick = Duration.milliseconds(5)

  /// Ticks of one round of the timing wheel, 20 s: longer waits are looked at once a round.
  static let wheelSlots = 4_096

  /// Entries of the timing wheel, beyond two for each target, among which nobody looks for outdated ones.
  static let unsweptTicks = 1_024

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
