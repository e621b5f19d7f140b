internal import EventLoop
internal import Locks

/// Hands events and statements over to the thread `store`; under its lock there are only moves in memory.
final class WriteQueue: Sendable {
  private let pending: Locked<PendingRecords>
  private let page: WriterRunPage?
  /// Wakes the thread `store`.
  private let waker: Waker
  /// Wakes the thread `stall` when an event has waited too long.
  private let stallTimer: OneShotTimer

  init(last: UInt64, page: WriterRunPage?, waker: Waker, stallTimer: OneShotTimer) {
    pending = Locked(PendingRecords(last: last))
    self.page = page
    self.waker = waker
    self.stallTimer = stallTimer
  }

  // MARK: - Any thread

  /// Adds events; true if they are visible already, because the disk is not waited for.
  func append(_ records: [EventRecord], at clocks: StoreTime) -> Bool {
    let now = MonotonicInstant.now.nanoseconds
    let (isVisible, wasEmpty, needsTimer) = pending.withLock { $0.append(records, at: now, clocks) }
    // The thread may be blocked in a checkpoint, and no event waited when it began.
    if needsTimer { stallTimer.set(after: Limits.stall) }
    if wasEmpty { waker.wake() }
    return isVisible
  }

  /// Adds a statement; false when too many wait or the queue is closed.
  func append(_ write: PendingWrite) -> Bool {
    let isAccepted = pending.withLock { $0.append(write, limit: Limits.pendingWrites) }
    if isAccepted { waker.wake() }
    return isAccepted
  }

  var state: StoreState { pending.withLock(\.state) }
  var lastVisible: UInt64 { pending.withLock(\.lastVisible) }
  var lastCommitted: UInt64 { pending.withLock(\.lastCommitted) }
  /// Whether some events are not committed, which no thread commits after the end.
  var isIncomplete: Bool { pending.withLock { $0.lastCommitted < $0.lastAppended } }
  var isClosed: Bool { pending.withLock(\.isClosed) }

  /// Events and bytes that wait, and the events that were not kept.
  var load: (events: Int, bytes: Int, unkept: UInt64) {
    pending.withLock { ($0.waitingEvents, $0.bytes, $0.unkept) }
  }

  // MARK: - The thread `store`

  var hasWork: Bool { pending.withLock(\.hasWork) }

  /// Takes the next transaction; empty when there is nothing to do.
  func take() -> PendingRecords.Group {
    let group = pending.withLock { $0.hasWork ? $0.take(limit: Limits.groupRecords) : PendingRecords.Group() }
    return group
  }

  /// The transaction was committed; returns whether more is visible now, and whether the disk keeps up again.
  func committed(_ group: PendingRecords.Group) -> (isAdvanced: Bool, isKeeping: Bool) {
    pending.withLock { pending in
      let result = pending.committed(group)
      // Under the lock: no event can become visible without its commit before the next one is appended.
      if result.isKeeping { page?.isLossy = false }
      // Before other threads see the events: a database that does not have them is not the one of this run.
      if result.isAdvanced || result.isKeeping { page?.lastVisible = pending.lastVisible }
      return result
    }
  }

  /// The transaction failed: its events wait again, and all are visible now; returns whether the state has changed.
  func failed(_ group: PendingRecords.Group, _ reason: String, time: Int64) -> Bool {
    pending.withLock { pending in
      pending.failed(group)
      return detach(&pending, reason, time)
    }
  }

  /// Makes all events visible; returns whether the state has changed.
  func detach(_ reason: String, time: Int64) -> Bool { pending.withLock { detach(&$0, reason, time) } }

  /// Marks the time in which the thread uses the disk without a transaction.
  func setOnDisk(_ isOnDisk: Bool) { pending.withLock { $0.isOnDisk = isOnDisk } }

  /// Refuses everything from now on; returns the statements that will not be executed.
  func close() -> [PendingWrite] { pending.withLock { $0.close() } }

  private func detach(_ pending: inout PendingRecords, _ reason: String, _ time: Int64) -> Bool {
    // Before the first event becomes visible without its commit: a kill from here on begins a new epoch.
    page?.isLossy = true
    return pending.detach(reason, time: time)
  }

  // MARK: - The thread `stall`

  /// The effect of an expiry of the stall timer.
  enum StallCheck {
    /// No event waits.
    case idle
    /// The oldest event waits until then, in nanoseconds of CLOCK_MONOTONIC.
    case waits(until: Int64)
    /// Events are visible without their commit now.
    case detached
  }

  /// Applies the stall rule.
  func checkStall(time: Int64) -> StallCheck {
    let now = MonotonicInstant.now.nanoseconds
    return pending.withLock { pending in
      guard let deadline = pending.stallDeadline else { return .idle }
      guard now >= deadline else { return .waits(until: deadline) }
      _ = detach(&pending, "the disk did not respond within \(Limits.stall)", time)
      return .detached
    }
  }
}
