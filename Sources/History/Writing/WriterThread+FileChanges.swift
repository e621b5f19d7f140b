internal import Database
internal import EventLoop
internal import Logging

// Files that another program has removed or replaced.
extension WriterThread {
  /// Compares the open files with those of the directory.
  func checkFiles() {
    guard let opened, let commits, let change = files.change(since: opened) else { return }
    queue.setOnDisk(true)
    setStallTimer()
    defer { queue.setOnDisk(false) }
    switch change {
    case .database(let reason): leave(reason)
    case .truncated:
      report("the database file was truncated")
      fail(PendingRecords.Group(), DatabaseError(damage: "the file was truncated", files.databasePath))
    case .log(let reason): leaveLog(reason, opened, commits)
    case .lock: relock()
    }
  }

  /// Ends the use of the present files, and has the directory opened again.
  private func leave(_ reason: String) {
    report(reason)
    if queue.detach(reason, time: StoreTime.now.wall) { statistics.recordDetachment() }
    onVisible()
    closeConnection()
    reopenAt = .now
  }

  /// Copies the open log into the database before both are opened again, so that nothing is lost.
  private func leaveLog(_ reason: String, _ opened: OpenStoreFiles, _ commits: GroupCommitWriter) {
    do {
      let (pages, copied) = try commits.connection.checkpoint()
      // A reader may need a part of the log for a moment.
      guard pages == copied else { return }
      leave(reason)
      try files.removeLog(of: opened)
    } catch {
      logger.error("the log cannot be copied into the database", metadata: ["error": "\(error)"])
      leave(reason)
    }
  }

  /// Locks the directory again; another process may have locked it meanwhile.
  private func relock() {
    do throws(DatabaseFileError) {
      guard try files.directory.relock() else { return leave("another process uses the data directory") }
      report("the lock file was deleted or replaced")
      claim()
    } catch {
      logger.error("the data directory cannot be locked again", metadata: ["error": "\(error)"])
    }
  }

  /// Makes the present lock file and the page those of this run.
  func claim() {
    if let mark { files.write(mark) }
    guard let page = recovery.page, let path = files.pagePath else { return }
    do throws(DatabaseFileError) {
      try page.move(to: path)
    } catch {
      logger.warning("ids begin again after a kill: the page cannot be renamed", metadata: ["error": "\(error)"])
    }
  }

  private func report(_ reason: String) {
    logger.error(
      "the files of the store were removed or replaced",
      metadata: ["reason": "\(reason)", "path": "\(files.databasePath)"])
  }
}
