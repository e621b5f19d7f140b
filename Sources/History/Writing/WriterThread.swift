internal import Database
internal import EventLoop
internal import Logging

/// The thread `store`: the only one that writes the database and its log.
@safe final class WriterThread: @unchecked Sendable {
  let queue: WriteQueue
  let files: StoreFiles
  let recovery: StoreRecovery
  let epoch: String
  let statistics: StoreStatistics
  let sync: SyncThread
  let readers: HistoryReaderPool
  private let stallTimer: OneShotTimer
  private let isStallTimerSet: WriterFlag
  private let waker: Waker
  private let poller: Poller
  let logger: Logger
  /// Called without a lock after more events became visible.
  let onVisible: @Sendable () -> Void

  var commits: GroupCommitWriter?
  /// The run in the database; nil while none was begun.
  var mark: StoreRunMark?
  /// The files that the connection has open; nil without one.
  var opened: OpenStoreFiles?
  /// Write what is in force to a file that takes the place of another one.
  let contents = StoreContentWriters()
  var upkeep: WriterMaintenance
  var reopenAt: MonotonicInstant?
  /// What was read from a damaged file, for the file that replaces it.
  var salvaged = SalvagedRows()
  /// The log was not synchronized; the database is opened again.
  let hasSyncFailed: WriterFlag
  private let verifier: StoreVerifier
  /// What must happen before a database is opened, if none is open.
  var reopening: StoreReopening
  var noticeAt = MonotonicInstant.now
  let isStartOver = WriterFlag()
  let isClosing = WriterFlag()

  /// - Throws: an ``EventLoopError`` if the process has no descriptors left.
  init(
    _ opened: OpenedStoreFiles, queue: WriteQueue, statistics: StoreStatistics, sync: SyncThread,
    readers: HistoryReaderPool, stallTimer: OneShotTimer, isStallTimerSet: WriterFlag, waker: Waker,
    hasSyncFailed: WriterFlag, verifier: StoreVerifier, tasks: WriterMaintenanceTasks,
    onVisible: @escaping @Sendable () -> Void
  ) throws(EventLoopError) {
    (files, recovery, epoch) = (opened.files, opened.recovery, opened.state.epoch)
    (commits, mark, reopening) = (opened.commits, opened.mark, opened.reopening)
    (self.queue, self.statistics, self.sync, self.readers) = (queue, statistics, sync, readers)
    (self.stallTimer, self.isStallTimerSet, self.waker) = (stallTimer, isStallTimerSet, waker)
    (self.hasSyncFailed, self.verifier, self.onVisible) = (hasSyncFailed, verifier, onVisible)
    logger = opened.files.configuration.logger
    self.opened = opened.commits == nil ? nil : files.opened
    upkeep = WriterMaintenance(page: opened.recovery.page, tasks: tasks)
    poller = try Poller(capacity: 1)
    try waker.attach(to: poller, token: Poller.mailboxToken)
    if commits == nil { reopenAt = MonotonicInstant.now.advanced(by: Limits.reopenDelay) }
  }

  /// Runs until ``isClosing`` is set and everything is committed.
  func run() {
    useLog()
    synchronizeStart()
    while true {
      if !waker.isPending, commits == nil || !queue.hasWork { _ = poller.wait(atMost: timeout) }
      waker.clear()
      if hasSyncFailed.isSet { reopen("synchronization failed") }
      if let damage = verifier.takeDamage(), commits != nil { fail(PendingRecords.Group(), damage) }
      if let reopenAt, MonotonicInstant.now >= reopenAt { openAgain() }
      commitAll()
      endStart()
      maintain()
      refreshNotices()
      if isClosing.isSet {
        // Files that were just removed: what is in force must not be lost with them.
        let wasOpen = commits != nil
        checkFiles()
        if wasOpen, commits == nil {
          openAgain()
          commitAll()
        }
        return end()
      }
    }
  }

  private var timeout: Duration? {
    let now = MonotonicInstant.now
    return [reopenAt, upkeep.nextDeadline(isOpen: commits != nil), noticeDeadline].compactMap(\.self).min()
      .map { max(.zero, now.duration(to: $0)) }
  }

  // MARK: - Transactions

  /// Commits what waits, until the log must be copied into the database, or the database must not grow further.
  private func commitAll() {
    while let commits, queue.hasWork {
      let group = queue.take()
      setStallTimer()
      let start = MonotonicInstant.now
      do throws(DatabaseError) {
        let results = try commits.commit(group)
        statistics.recordCommit(MonotonicInstant.now.nanoseconds - start.nanoseconds)
        finish(group, results)
      } catch {
        fail(group, error)
      }
      if isLogLarge || upkeep.hasGrown { return }
    }
  }

  /// Whether the log is copied into the database although events wait.
  var isLogLarge: Bool { (commits?.connection.logBytes ?? 0) >= Limits.checkpointBytes }

  private func finish(_ group: PendingRecords.Group, _ results: [Result<Void, StoreError>]) {
    let (isAdvanced, isKeeping) = queue.committed(group)
    // First of all: clients wait for it.
    if isAdvanced { onVisible() }
    sync.noteCommit()
    upkeep.noteCommit(at: .now, bytes: group.cost)
    for (write, result) in zip(group.writes, results) { write.completion(result) }
    if isKeeping { logger.notice("events are committed before they are published again") }
  }

  func fail(_ group: PendingRecords.Group, _ error: DatabaseError) {
    statistics.recordCommitFailure()
    let hasChanged = queue.failed(group, "\(error)", time: StoreTime.now.wall)
    onVisible()
    if hasChanged {
      statistics.recordDetachment()
      logger.error(
        "events are published without being committed", metadata: ["error": "\(error)", "path": "\(error.path)"])
    }
    closeConnection()
    if error.isDamage { setAside("\(error)") }
    reopenAt = MonotonicInstant.now.advanced(by: error.isDamage ? .zero : Limits.reopenDelay)
  }

  /// Before the disk is used: from then on this thread may be blocked.
  func setStallTimer() {
    if isStallTimerSet.set() { stallTimer.set(after: Limits.stall) }
  }
}
