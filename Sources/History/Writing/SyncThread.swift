internal import Database
internal import EventLoop
internal import Locks

/// The thread `sync`: synchronizes the write-ahead log with the disk some time after a commit, and does nothing else.
final class SyncThread: @unchecked Sendable {
  private static let token: UInt64 = 1

  private struct State {
    var file: DatabaseFileSynchronizer?
    var isDirty = false
    var isStopping = false
    /// Synchronizations that have succeeded.
    var count = 0
    /// Whether a synchronization has failed since the file was set.
    var hasFailed = false
  }

  private let poller: Poller
  private let timer: OneShotTimer
  private let waker: Waker
  private let state = Locked(State())
  private let statistics: StoreStatistics
  /// Called on the thread after each synchronization, with its error.
  private let onEnd: @Sendable (DatabaseFileError?) -> Void

  /// - Throws: an ``EventLoopError`` if the process has no descriptors left.
  init(
    _ statistics: StoreStatistics, onEnd: @escaping @Sendable (DatabaseFileError?) -> Void
  ) throws(EventLoopError) {
    self.statistics = statistics
    self.onEnd = onEnd
    poller = try Poller(capacity: 2)
    timer = try OneShotTimer()
    waker = try Waker()
    try waker.attach(to: poller, token: Poller.mailboxToken)
    try timer.attach(to: poller, token: Self.token)
  }

  /// Runs until ``stop()``.
  func run() {
    while true {
      _ = poller.wait(atMost: nil)
      waker.clear()
      let (file, isStopping) = state.withLock { state -> (DatabaseFileSynchronizer?, Bool) in
        guard state.isDirty, !state.hasFailed else { return (nil, state.isStopping) }
        state.isDirty = false
        return (state.file, state.isStopping)
      }
      if let file { onEnd(synchronize(file)) }
      if isStopping { return }
    }
  }

  private func synchronize(_ file: DatabaseFileSynchronizer) -> DatabaseFileError? {
    let start = MonotonicInstant.now
    do throws(DatabaseFileError) {
      try file.synchronize()
      statistics.recordSync(MonotonicInstant.now.nanoseconds - start.nanoseconds)
      state.withLock { $0.count += 1 }
      return nil
    } catch {
      // Not repeated: the kernel may have dropped the pages that it could not write.
      state.withLock { $0.hasFailed = true }
      statistics.recordSyncFailure()
      return error
    }
  }

  /// Sets the log file; nil while there is none.
  func use(_ file: DatabaseFileSynchronizer?) {
    state.withLock { state in
      state.file = file
      state.isDirty = false
      state.hasFailed = false
    }
  }

  /// Notes a commit: the log is synchronized after the delay.
  func noteCommit() {
    let isFirst = state.withLock { state in
      defer { state.isDirty = true }
      return !state.isDirty
    }
    if isFirst { timer.set(after: Limits.syncDelay) }
  }

  /// Whether no commit waits for its synchronization, and the number of synchronizations.
  var progress: (isClean: Bool, count: Int) { state.withLock { (!$0.isDirty, $0.count) } }

  /// Synchronizes the log now, if a commit waits for it.
  func synchronizeNow() { waker.wake() }

  /// Ends the thread after what is dirty was synchronized.
  func stop() {
    state.withLock { $0.isStopping = true }
    waker.wake()
  }
}
