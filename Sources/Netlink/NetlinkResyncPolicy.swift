internal import Glibc
internal import ReachabilityModel

/// Decides when to read, when to read everything, and when a failure is reported.
///
/// It makes no system calls.
struct NetlinkResyncPolicy {
  /// What to do after a wait.
  enum Decision: Equatable {
    case wait
    case read(isAudit: Bool)
  }

  private enum Health {
    case working
    /// `busyUntil`: until then a kernel that does not respond counts as busy. `isReported`: the observer was notified.
    case failing(busyUntil: Duration, isReported: Bool)
  }

  struct FailureReport: Equatable {
    /// The first failure since the last reading.
    let isFirst: Bool
    let isForObserver: Bool
  }

  private let auditInterval: Duration
  /// Received events that no reading includes yet.
  private(set) var pending = NetlinkEventBatch.everything
  /// Events received during an audit.
  private var afterAudit = NetlinkEventBatch()
  /// The time of the next complete reading without an event; nil without events, when every reading is complete.
  private(set) var nextAudit: Duration?
  private var health = Health.working

  init(auditInterval: Duration) { self.auditInterval = auditInterval }

  /// Whether the last reading failed.
  var isFailing: Bool { if case .failing = health { true } else { false } }

  mutating func received(_ batch: NetlinkEventBatch) { pending.merge(batch) }

  /// Adds events that were received during an audit, to be handled after it.
  mutating func receivedDuringAudit(_ batch: NetlinkEventBatch) { afterAudit.merge(batch) }

  /// Records that the machine slept and that everything may have changed.
  mutating func slept() { pending.addSleep() }

  /// Schedules the next audit: when events start, and after each audit.
  mutating func scheduleAudit(after uptime: Duration) { nextAudit = uptime + auditInterval }

  /// Decides what follows a wait.
  ///
  /// - Parameters:
  ///   - isCalled: another thread has requested a reading.
  ///   - isDue: the deadline of the last reading, or of its retry, has passed.
  ///   - hasEvents: the kernel reports changes.
  ///   - uptime: the current time.
  /// - Returns: whether to read, and then whether to compare the result with the observer's state.
  mutating func decide(isCalled: Bool, isDue: Bool, hasEvents: Bool, uptime: Duration) -> Decision {
    // A failing kernel is queried again after a delay, not with every event.
    if isFailing { return isDue ? .read(isAudit: false) : .wait }
    guard pending.needsReading || isCalled || isDue else {
      // Events without consequences, such as those of neighbours that are not routers.
      pending = NetlinkEventBatch()
      return .wait
    }
    guard hasEvents else {
      pending.merge(.everything)
      return .read(isAudit: false)
    }
    guard pending.isIdle, let nextAudit, nextAudit <= uptime else { return .read(isAudit: false) }
    pending.merge(.everything)
    return .read(isAudit: true)
  }

  /// A reading of ``pending`` is complete.
  mutating func readingSucceeded() {
    pending = afterAudit
    afterAudit = NetlinkEventBatch()
    health = .working
  }

  /// A reading has failed.
  ///
  /// - Parameters:
  ///   - error: the failure.
  ///   - uptime: the current time.
  ///   - isStopping: the observer must not be called any more.
  /// - Returns: where to report the failure.
  mutating func readingFailed(_ error: KernelError, uptime: Duration, isStopping: Bool) -> FailureReport {
    // The reading for these events is incomplete.
    pending.addLoss()
    let isFirst: Bool
    var (busyUntil, isReported) = (uptime + Limits.busyTimeout, false)
    switch health {
    case .working: isFirst = true
    case .failing(let until, let reported):
      isFirst = false
      (busyUntil, isReported) = (until, reported)
    }
    // While a writer holds the RTNL lock the kernel does not respond, but the last verdict stays valid.
    let isBusy = [ETIMEDOUT, EAGAIN].contains(error.errno) && uptime < busyUntil
    let isForObserver = !isBusy && !isReported && !isStopping
    health = .failing(busyUntil: busyUntil, isReported: isReported || isForObserver)
    return FailureReport(isFirst: isFirst, isForObserver: isForObserver)
  }
}
