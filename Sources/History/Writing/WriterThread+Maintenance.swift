internal import Database
internal import EventLoop
internal import Logging

extension WriterThread {
  func maintain() {
    if commits != nil, upkeep.areFilesDue(at: .now) {
      statistics.recordBytes(files.bytes)
      checkFiles()
    }
    let isBusy = queue.hasWork
    guard let commits, !isBusy || isLogLarge || upkeep.hasGrown else { return }
    let due = upkeep.due(at: .now, log: commits.connection.logBytes, synchronized: sync.progress, isBusy: isBusy)
    for step in due where self.commits != nil {
      queue.setOnDisk(true)
      setStallTimer()
      perform(step, commits)
      queue.setOnDisk(false)
    }
  }

  private func perform(_ step: WriterMaintenance.Step, _ commits: GroupCommitWriter) {
    do throws(DatabaseError) {
      switch step {
      case .synchronize: sync.synchronizeNow()
      case .checkpoint:
        defer { opened?.databaseBytes = files.databaseBytes }
        try commits.connection.checkpoint()
      case .alive:
        try commits.connection.run(
          "UPDATE run SET alive = ?, alive_uptime = ? WHERE id = ?", .integer(StoreTime.now.wall),
          .integer(StoreTime.now.uptime), .integer(commits.run))
        sync.noteCommit()
      case .task(let task):
        try commits.connection.transaction { () throws(DatabaseError) in try task(commits.connection) }
        sync.noteCommit()
      }
    } catch {
      guard !error.isOfStatement else {
        logger.error("maintenance of the store failed", metadata: ["error": "\(error)"])
        return
      }
      fail(PendingRecords.Group(), error)
    }
  }

  // MARK: - End

  func end() {
    defer {
      closeConnection()
      files.configuration.start?.end(logger)
      files.directory.unlock()
    }
    for write in queue.close() { write.completion(.failure(.closed)) }
    onVisible()
    logUnkept("the database could not be written until the end of the process")
    guard let commits else { return }
    let time = StoreTime.now
    do throws(DatabaseError) {
      for task in upkeep.finalTasks {
        try commits.connection.transaction { () throws(DatabaseError) in try task(commits.connection) }
      }
      // The end is clean only if every event is committed.
      guard !queue.isIncomplete else { return }
      try commits.connection.run(
        "UPDATE run SET clean = 1, ended = ?, alive = ?, alive_uptime = ? WHERE id = ?", .integer(time.wall),
        .integer(time.wall), .integer(time.uptime), .integer(commits.run))
    } catch {
      return logger.error("the end of the run cannot be stored", metadata: ["error": "\(error)"])
    }
    synchronizeEnd()
  }

  /// Reports how many events are not in the database, if any; readers of the next run get a gap instead.
  func logUnkept(_ reason: Logger.Message) {
    let events = queue.load.events
    guard events > 0 else { return }
    logger.error("events are not kept", metadata: ["events": "\(events)", "reason": "\(reason)"])
  }

  /// Writes the end of the run into the lock file, after the disk has it in the database.
  private func synchronizeEnd() {
    do throws(DatabaseFileError) {
      try DatabaseFileSynchronizer(files.logPath).synchronize()
      guard var mark else { return }
      mark.end = queue.lastCommitted
      files.write(mark)
      try files.directory.synchronizeRecord()
    } catch {
      logger.error("the end of the run is not synchronized with the disk", metadata: ["error": "\(error)"])
    }
  }
}
