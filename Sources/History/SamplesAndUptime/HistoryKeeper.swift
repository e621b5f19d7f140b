public import Database
internal import Locks

/// The history over a store: records samples, deletes what is too old, and answers queries.
public final class HistoryKeeper: Sendable {
  /// The store.
  public let store: HistoryStore
  private let policy: RetentionPolicy
  private let now: @Sendable () -> StoreTime
  /// Whether samples wait for their commit, and whether a step of retention does: while the disk is not available, the
  /// next interval must not add another one.
  private let isFlushing = Locked(false)
  private let isRetaining = Locked(false)
  private let progress = Locked(RetentionProgress())

  /// The samples.
  public let recorder = SampleRecorder()

  /// Attaches to a store.
  ///
  /// - Parameters:
  ///   - store: the store; its settings determine what is kept.
  ///   - now: the clocks.
  public init(_ store: HistoryStore, now: @escaping @Sendable () -> StoreTime = { .now }) {
    self.store = store
    var policy = RetentionPolicy()
    policy.maximumSize = store.configuration.maximumSize
    policy.transitions = store.configuration.keep.components.seconds
    self.policy = policy
    self.now = now
    store.write { [recorder] (connection) throws(DatabaseError) in try recorder.recover(connection) }
    // A flood of events must not fill the database before the interval is over.
    let growth = min(max(Limits.smallestGrowth, policy.maximumSize / 64), Limits.largestGrowth)
    store.maintain(every: Limits.upkeepInterval, orAfter: growth) { [weak self] _ in
      self?.flush()
      self?.retain(Limits.retentionSteps)
    }
    store.maintain(every: Limits.never, runsAtEnd: true) { [recorder] (connection) throws(DatabaseError) in
      _ = try recorder.flush(connection, at: now())
    }
  }

  /// Adds the result of a check; it does not block.
  ///
  /// - Parameters:
  ///   - sample: the result.
  ///   - subject: the name of the target's subject: `target:db`.
  public func record(_ sample: Sample, of subject: String) {
    if recorder.record(sample, of: subject) { flush() }
  }

  /// Writes the samples in transactions of their own, so that an event waits for one of them at most.
  private func flush() {
    guard
      !isFlushing.withLock({ isFlushing in
        defer { isFlushing = true }
        return isFlushing
      })
    else { return }
    let flushed = Locked<SampleRecorder.Flushed?>(nil)
    store.write { [recorder, now] (connection) throws(DatabaseError) in
      let written = try recorder.flush(connection, at: now())
      flushed.withLock { $0 = written }
    } completion: { [self] result in
      isFlushing.withLock { $0 = false }
      guard case .success = result, let written = flushed.withLock(\.self) else { return }
      recorder.committed(written)
      if written.hasMore { flush() }
    }
  }

  private func retain(_ steps: Int) {
    guard steps > 0,
      !isRetaining.withLock({ isRetaining in
        defer { isRetaining = true }
        return isRetaining
      })
    else { return }
    let hasMore = Locked(false)
    store.write { [self] (connection) throws(DatabaseError) in
      // Without the lock, because the disk may block; only the thread of the store changes the progress.
      var examined = progress.withLock(\.self)
      let isUnfinished = try HistoryRetention.apply(
        connection, policy, &examined, inUse: recorder.subjects, now: now())
      progress.withLock { $0 = examined }
      hasMore.withLock { $0 = isUnfinished }
    } completion: { [self] result in
      isRetaining.withLock { $0 = false }
      if case .success = result, hasMore.withLock(\.self) { retain(steps - 1) }
    }
  }

  /// The present time.
  public var time: StoreTime { now() }

  /// Runs a query; see ``HistoryStore/read(_:completion:)``.
  public func read<Value: Sendable>(
    _ query: @escaping @Sendable (HistoryReader) throws(DatabaseError) -> Value,
    completion: @escaping @Sendable (Result<Value, StoreError>) -> Void
  ) {
    let now = now()
    store.read(
      { (connection) throws(DatabaseError) in try query(HistoryReader(connection, now: now)) }, completion: completion)
  }
}
