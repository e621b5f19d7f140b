internal import Database
internal import EventLoop
internal import Logging

extension WriterThread {
  /// Synchronizes the row of this run, and the lock file, before an event is visible: otherwise the run before it, which
  /// may have ended cleanly, were the last one after a power failure, and its numbers would be used twice.
  func synchronizeStart() {
    guard commits != nil else { return }
    queue.setOnDisk(true)
    setStallTimer()
    defer { queue.setOnDisk(false) }
    do throws(DatabaseFileError) {
      try DatabaseFileSynchronizer(files.logPath).synchronize()
      try files.directory.synchronizeRecord()
    } catch {
      hasSyncFailed.set()
    }
  }

  func useLog() { sync.use(commits == nil ? nil : try? DatabaseFileSynchronizer(files.logPath)) }

  func closeConnection() {
    sync.use(nil)
    commits = nil
    opened = nil
  }

  func reopen(_ reason: String) {
    hasSyncFailed.clear()
    queue.setOnDisk(true)
    if queue.detach(reason, time: StoreTime.now.wall) {
      statistics.recordDetachment()
      onVisible()
    }
    closeConnection()
    queue.setOnDisk(false)
    // Not immediately: a disk that fails now fails again.
    reopenAt = MonotonicInstant.now.advanced(by: Limits.reopenDelay)
  }

  func openAgain() {
    reopenAt = MonotonicInstant.now.advanced(by: Limits.reopenDelay)
    queue.setOnDisk(true)
    setStallTimer()
    defer { queue.setOnDisk(false) }
    switch reopening {
    case .open: break
    case .setAside(let aside):
      perform(aside)
      guard reopening.isPermitted else { return }
    case .never:
      reopenAt = nil
      return
    }
    do {
      guard try files.directory.relock() else { throw StoreError.inUse(path: files.directory.path) }
      let connection = try files.open()
      let before = mark
      // Before its first run this process has not read what is stored, and must not replace it.
      let writers = before == nil ? [] : contents.all
      let run = try StoreRecovery(files: files, page: recovery.page, boot: recovery.boot, time: .now).resume(
        before, connection, epoch, lastCommitted: queue.lastCommitted,
        StoreContents(salvaged: salvaged, writers: writers))
      salvaged = SalvagedRows()
      use(connection, run)
      claim()
      if let before, before != run {
        logger.notice("the store continues in another file", metadata: ["path": "\(files.databasePath)"])
        synchronizeStart()
      }
      reopenAt = nil
      readers.reopen()
      useLog()
      // Without a waiting event no commit would change the state.
      _ = queue.append(PendingWrite(body: { _ in }, completion: { _ in }))
    } catch {
      if case .database(let error)? = error as? StoreError, error.isDamage { setAside("\(error)") }
      logger.debug("the store cannot be opened", metadata: ["error": "\(error)"])
    }
  }

  private func use(_ connection: DatabaseConnection, _ run: StoreRunMark) {
    mark = run
    commits = GroupCommitWriter(connection, epoch: epoch, run: run.run)
    opened = files.opened
  }

  func setAside(_ reason: String) { perform(StoreSetAside(.damage(reason))) }

  /// Sets a database aside, or leaves that to the next attempt to open one.
  private func perform(_ aside: StoreSetAside) {
    var aside = aside
    do throws(StoreSetAside.Failure) {
      if let rows = try aside.perform(files) { salvaged = rows }
      reopening = .open
    } catch {
      reopening = .setAside(aside)
    }
  }
}
