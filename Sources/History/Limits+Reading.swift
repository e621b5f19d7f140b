extension Limits {
  /// Rows that a page of the history examines: about 20 ms.
  static let scannedRows = 20_000

  /// Changes of one target that are examined for the beginning of an outage before a window.
  static let openingChanges = 1_000

  /// The latest time that a row may have, in microseconds: far beyond any clock, and small enough for sums.
  static let latestTime: Int64 = 1 << 60

  /// The highest count that is restored, of failed checks or of changes: a damaged row must not have one that cannot
  /// increase.
  static let storedCount: Int64 = 1 << 40

  /// The highest number of a row or of an event that a file may have: higher ones than any service reaches, and small
  /// enough for sums.
  static let highestNumber: Int64 = 1 << 60

  /// The highest number of a run, from which the first revision of a target follows.
  static let highestRun: Int64 = 1 << 40

  /// Runs of the service that a query examines, the newest first.
  static let runs = 100_000

  /// Runs that are examined before the ones that are needed: the last boot with the right time may be some boots ago.
  static let earlierRuns = 64

  /// Microseconds by which events between two steps of the wall clock may be out of order.
  ///
  /// Threads number events a moment after they have taken their time. A smaller step of the clock does not matter.
  static let clockTolerance: Int64 = 1_000_000

  /// Parts of time between two steps of the wall clock that a query or a webhook examines, the newest first: a start and
  /// a step each.
  static let stretches = 10_000

  /// The longest run in microseconds, a thousand years: the sum of all runs must not overflow.
  static let longestRun: Int64 = 31_557_600_000_000_000

  /// Rows that one transaction of retention examines or deletes: about 10 ms.
  static let deletedRows = 2_000

  /// Samples that wait for the thread of the store: ten minutes of 10,000 targets that are checked every 30 seconds.
  static let pendingSamples = 200_000

  /// Samples that are written although the minute is not over, which takes about 20 ms.
  ///
  /// The default limit of 10,000 checks a second permits 600,000 a minute.
  static let writtenSamples = 50_000

  /// Targets whose samples of an hour are written in one transaction: three rows each, about 10 ms.
  static let closedTargets = 500

  /// Hours of samples that a query reads; they are kept for 48 hours.
  static let sampleHours: Int64 = 72

  /// Roll-ups that a query reads, at about 5 µs each: 90 days of hours.
  static let latencySteps: Int64 = 2_500

  /// Bytes of free pages at the end of the file that one step of retention returns to the file system.
  static let vacuumedBytes: Int64 = 1 << 20

  /// The time between two rows of samples, and between two steps of retention.
  static let upkeepInterval = Duration.seconds(60)

  /// Transactions of retention in one interval: 100,000 rows, so that a full database becomes smaller than it grows.
  static let retentionSteps = 50

  /// Bytes of events after which retention runs although its interval is not over: a sixty-fourth of `store.maxSize`, but
  /// at most these, which are a second of 10,000 events a second, and at least ``smallestGrowth``.
  static let largestGrowth: Int64 = 8 << 20

  /// The lower limit of the same: retention reads some pages of each table.
  static let smallestGrowth: Int64 = 256 << 10

  /// Removed targets whose samples are searched in one transaction of retention: 3,000 periods of about 2 µs each.
  static let probedTargets = 2

  /// Subjects without any row that are deleted in an hour, eight bytes each in memory.
  static let unusedSubjects = 100_000

  /// Random numbers that are tried for a target after the highest number was used; with a full table of three quarters, the
  /// last one of as many is free with 99.99 %.
  static let numberAttempts = 32

  /// The time after which retention examines transitions and subjects again that it has kept.
  static let examination = Duration.seconds(3_600)

  /// Bytes of a file of the tz database; the largest has four kilobytes.
  static let timeZoneBytes = 64 << 10

  /// Time zones in memory, some kilobytes each.
  static let timeZones = 64

  /// The interval of a task that runs only at the end.
  static let never = Duration.seconds(100 * 365 * 86_400)
}
