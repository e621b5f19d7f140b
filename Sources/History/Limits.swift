/// Every limit of this module, with its unit and its reason.
enum Limits {
  /// Bytes that a waiting record counts for besides its texts: the record itself and its place in the queue.
  static let recordOverhead = 256

  /// The time that the oldest waiting event may be delayed by the disk; then events are published without it.
  ///
  /// A commit takes 0.1 ms and a checkpoint 30 ms; clients notice 100 ms.
  static let stall = Duration.milliseconds(50)

  /// Bytes of events that wait while the disk is not available; the oldest of more are not kept.
  static let pendingBytes = 16 << 20

  /// Records of one transaction; more only delay the first of them.
  static let groupRecords = 4096

  /// Statements of other modules that wait for the thread `store`.
  static let pendingWrites = 4096

  /// The time from a commit to the synchronization of the log: what a power failure can lose.
  static let syncDelay = Duration.milliseconds(200)

  /// The time without an event after which the log is copied into the database.
  static let checkpointIdle = Duration.seconds(10)

  /// The shortest time between two copies of the log, of which a reader may prevent the second half.
  static let checkpointInterval = Duration.milliseconds(250)

  /// Bytes of the log from which it is copied into the database: a little less than `journal_size_limit`, beyond which
  /// SQLite truncates the file of the log.
  static let checkpointBytes = 15 << 20

  /// Bytes of the log from which it is copied although events wait: a little more, because a moment without waiting
  /// events comes soon.
  static let checkpointForcedBytes = 24 << 20

  /// Bytes by which a database that has reached its limit may grow each time it is opened: 16 MiB, for the events that wait.
  static let spareBytes: Int64 = 16 << 20

  /// The time between attempts to open the database after a failure.
  static let reopenDelay = Duration.seconds(5)

  /// The time between signs of life in the run's page, which bounds the error of the history's uptime after a kill.
  static let aliveInterval = Duration.seconds(10)

  /// The time between two examinations of the files: their size, and whether they were removed or replaced.
  ///
  /// What is committed in between is lost only if the process is killed before the next one.
  static let filesInterval = Duration.seconds(5)

  /// The time between signs of life in the database, for the end of a run by a power failure.
  static let aliveCommitInterval = Duration.seconds(60)

  /// Bytes of the newest events that a start loads, from which most subscribers resume.
  static let recoveredBytes = 2 << 20

  /// Read-only connections: a long read must not delay the next one.
  static let readers = 2

  /// Queries that wait for a connection.
  static let pendingReads = 256
}
