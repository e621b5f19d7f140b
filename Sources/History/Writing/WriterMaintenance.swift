internal import Database
internal import EventLoop
internal import Locks

/// Statements that other parts of the program repeat on the thread `store`, while no event waits.
final class WriterMaintenanceTasks: Sendable {
  /// One repeated transaction.
  typealias Body = @Sendable (DatabaseConnection) throws(DatabaseError) -> Void

  struct Entry: Sendable {
    var interval: Duration
    /// The bytes of events after which it is due earlier; nil for none.
    var bytes: Int64?
    var runsAtEnd: Bool
    var body: Body
  }

  private let entries = Locked<[Entry]>([])

  func add(_ entry: Entry) { entries.withLock { $0.append(entry) } }
  var all: [Entry] { entries.withLock(\.self) }
}

/// What the thread `store` does besides transactions, and when.
///
/// Confined to that thread.
struct WriterMaintenance {
  enum Step {
    /// Have the log synchronized, so that a checkpoint has less to wait for.
    case synchronize
    /// Copy the log into the database.
    case checkpoint
    /// Store a sign of life.
    case alive
    /// Run a repeated transaction.
    case task(WriterMaintenanceTasks.Body)
  }

  private let page: WriterRunPage?
  private let tasks: WriterMaintenanceTasks
  private var aliveAt: MonotonicInstant
  private var aliveCommitAt: MonotonicInstant
  private var lastCommit: MonotonicInstant
  /// Whether the log has pages that are not in the database.
  private var hasLog = true
  /// The synchronizations at the request of one; nil without a request.
  private var requestedAfter: Int?
  private var checkpointAt = MonotonicInstant.now
  private var taskTimes: [MonotonicInstant] = []
  /// The bytes of events that were committed since each task was due, and after which it is due again.
  private var growth: [(bytes: Int64, limit: Int64)] = []
  private var filesAt = MonotonicInstant.now

  init(page: WriterRunPage?, tasks: WriterMaintenanceTasks) {
    self.page = page
    self.tasks = tasks
    lastCommit = .now
    aliveAt = lastCommit.advanced(by: Limits.aliveInterval)
    aliveCommitAt = lastCommit.advanced(by: Limits.aliveCommitInterval)
  }

  /// A transaction with some bytes of events was committed.
  mutating func noteCommit(at now: MonotonicInstant, bytes: Int) {
    for index in growth.indices { growth[index].bytes += Int64(bytes) }
    // The history must not end before its last event when the process is killed.
    page?.setAlive(.now)
    lastCommit = now
    hasLog = true
  }

  /// Whether a task is due because of the bytes that were committed.
  var hasGrown: Bool { growth.contains { $0.bytes >= $0.limit } }

  /// When ``due(at:log:synchronized:isBusy:)`` has the next step.
  func nextDeadline(isOpen: Bool) -> MonotonicInstant? {
    guard isOpen else { return nil }
    var times = [aliveAt, aliveCommitAt, filesAt] + taskTimes
    if hasLog { times.append(lastCommit.advanced(by: requestedAfter != nil ? .seconds(1) : Limits.checkpointIdle)) }
    return times.min()
  }

  /// Whether the files are to be examined again.
  mutating func areFilesDue(at now: MonotonicInstant) -> Bool {
    guard now >= filesAt else { return false }
    filesAt = now.advanced(by: Limits.filesInterval)
    return true
  }

  /// The steps that are due.
  ///
  /// - Parameters:
  ///   - now: the present time.
  ///   - bytes: the bytes of the log.
  ///   - synchronized: whether the disk has the whole log, and the number of synchronizations.
  ///   - isBusy: whether events wait; then only what bounds the log and the database is due.
  /// - Returns: the steps, in order.
  mutating func due(
    at now: MonotonicInstant, log bytes: Int, synchronized: (isClean: Bool, count: Int), isBusy: Bool
  ) -> [Step] {
    (isBusy ? [] : aliveSteps(at: now)) + taskSteps(at: now, isBusy: isBusy)
      + logSteps(at: now, log: bytes, synchronized)
  }

  private mutating func aliveSteps(at now: MonotonicInstant) -> [Step] {
    var steps: [Step] = []
    if now >= aliveAt {
      // Memory only: an idle service does not write to the disk for it.
      page?.setAlive(.now)
      aliveAt = now.advanced(by: Limits.aliveInterval)
    }
    if now >= aliveCommitAt {
      steps.append(.alive)
      aliveCommitAt = now.advanced(by: Limits.aliveCommitInterval)
    }
    return steps
  }

  private mutating func taskSteps(at now: MonotonicInstant, isBusy: Bool) -> [Step] {
    var steps: [Step] = []
    for (index, task) in tasks.all.enumerated() {
      if index >= taskTimes.count {
        taskTimes.append(now.advanced(by: task.interval))
        growth.append((0, task.bytes ?? .max))
      }
      guard growth[index].bytes >= growth[index].limit || !isBusy && now >= taskTimes[index] else { continue }
      steps.append(.task(task.body))
      taskTimes[index] = now.advanced(by: task.interval)
      growth[index].bytes = 0
    }
    return steps
  }

  private mutating func logSteps(
    at now: MonotonicInstant, log bytes: Int, _ synchronized: (isClean: Bool, count: Int)
  ) -> [Step] {
    let isIdle = hasLog && now >= lastCommit.advanced(by: Limits.checkpointIdle)
    guard now >= checkpointAt, isIdle || bytes >= Limits.checkpointBytes else { return [] }
    // Most of the log is enough: under load there are always commits that are not synchronized yet.
    let isSynchronized = synchronized.isClean || requestedAfter.map { synchronized.count > $0 } ?? false
    guard isSynchronized || bytes >= Limits.checkpointForcedBytes else {
      guard requestedAfter == nil else { return [] }
      requestedAfter = synchronized.count
      return [.synchronize]
    }
    hasLog = false
    // A reader may keep a part of the log, which another checkpoint would not change.
    checkpointAt = now.advanced(by: Limits.checkpointInterval)
    requestedAfter = nil
    return [.checkpoint]
  }

  /// The repeated transactions that also run at the end.
  var finalTasks: [WriterMaintenanceTasks.Body] { tasks.all.filter(\.runsAtEnd).map(\.body) }
}
