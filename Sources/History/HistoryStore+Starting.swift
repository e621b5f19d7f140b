internal import Database
internal import EventLoop

extension HistoryStore {
  /// Ends the start: the states are restored, so that an end of the process from now on is not the fault of the database.
  ///
  /// It does not wait: the thread `store` removes the marker after what it has to do.
  public func endStart() {
    configuration.start?.requestEnd()
    thread.isStartOver.set()
    waker.wake()
  }

  /// Whether the states are being restored; not longer than a second after ``endStart()``, because no client must wait for
  /// a disk that does not respond.
  public var isStarting: Bool { configuration.start?.isInProgress ?? false }

  /// Ends the start of a store whose threads do not run.
  func endWithoutThreads() -> Bool {
    configuration.start?.end(configuration.logger)
    return true
  }

  /// A line for each database that was set aside and not acknowledged, the oldest first.
  public var setAsideNotices: [String] { files.notices.lines }

  /// Acknowledges the databases that were set aside in a directory, which a service may use; it notices that.
  ///
  /// - Returns: a line for each.
  /// - Throws: a ``StoreError`` when the directory cannot be used.
  public static func acknowledge(_ path: String) throws(StoreError) -> [String] {
    guard DataDirectory.exists(at: path) else { throw .directory(path: path, reason: "there is no such directory") }
    do throws(DatabaseFileError) {
      return try StoreNotices.acknowledge(in: path)
    } catch {
      throw .directory(path: path, reason: "\(error)")
    }
  }
}
