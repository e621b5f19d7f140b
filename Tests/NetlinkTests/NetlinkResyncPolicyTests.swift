import Glibc
import ReachabilityModel
import Testing

@testable import Netlink

@Suite struct NetlinkResyncPolicyTests {
  private var policy = NetlinkResyncPolicy(auditInterval: .seconds(60))
  private let start = Duration.seconds(100)

  init() {
    // The first reading is complete, and events are received.
    policy.readingSucceeded()
    policy.scheduleAudit(after: start)
  }

  private func route() -> NetlinkEventBatch {
    var batch = NetlinkEventBatch()
    batch.datagrams = 1
    batch.causes = [.routeAdded]
    return batch
  }

  private mutating func decide(
    called: Bool = false, due: Bool = false, events: Bool = true, after seconds: Int = 0
  ) -> NetlinkResyncPolicy.Decision {
    policy.decide(isCalled: called, isDue: due, hasEvents: events, uptime: start + .seconds(seconds))
  }

  @Test mutating func firstReadingIsComplete() {
    policy = NetlinkResyncPolicy(auditInterval: .seconds(60))
    #expect(policy.pending.needsTables && policy.pending.isAfterLoss)
    policy.readingSucceeded()
    #expect(policy.pending.isEmpty && !policy.pending.needsReading)
  }

  @Test mutating func waitWithoutEventsContinues() {
    #expect(decide() == .wait)
    var batch = NetlinkEventBatch()
    batch.datagrams = 3
    policy.received(batch)
    #expect(decide() == .wait)
    #expect(policy.pending.isEmpty, "events without consequence are discarded")
  }

  @Test mutating func eventsCallsAndDeadlinesCauseAReading() {
    #expect(decide(called: true) == .read(isAudit: false))
    #expect(decide(due: true) == .read(isAudit: false))
    #expect(!policy.pending.needsTables)
    policy.received(route())
    #expect(decide() == .read(isAudit: false))
    #expect(policy.pending.causes == [.routeAdded])
  }

  @Test mutating func readingsAreCompleteWithoutEvents() {
    #expect(decide(events: false) == .wait)
    #expect(decide(due: true, events: false) == .read(isAudit: false))
    #expect(policy.pending.needsTables)
  }

  @Test mutating func dueAuditRunsWhenNothingIsPending() {
    #expect(policy.nextAudit == start + .seconds(60))
    #expect(decide(due: true, after: 59) == .read(isAudit: false))
    policy.received(route())
    #expect(decide(due: true, after: 60) == .read(isAudit: false))
    policy.readingSucceeded()
    #expect(decide(due: true, after: 60) == .read(isAudit: true))
    #expect(policy.pending.needsTables)
    policy.scheduleAudit(after: start + .seconds(61))
    policy.receivedDuringAudit(route())
    policy.readingSucceeded()
    #expect(policy.pending.causes == [.routeAdded], "events during an audit are pending after it")
    policy.readingSucceeded()
    #expect(decide(due: true, after: 62) == .read(isAudit: false))
  }

  @Test mutating func suspensionCausesACompleteReading() {
    policy.slept()
    #expect(decide() == .read(isAudit: false))
    #expect(policy.pending.needsTables && policy.pending.causes == [.resume])
  }

  @Test mutating func failureIsReportedOnceAndRetried() {
    policy.received(route())
    let error = KernelError("dump", errno: EPERM)
    #expect(
      policy.readingFailed(error, uptime: start, isStopping: false) == .init(isFirst: true, isForObserver: true))
    #expect(policy.isFailing && policy.pending.isAfterLoss)
    policy.received(route())
    #expect(decide(called: true) == .wait, "events do not repair the kernel")
    #expect(decide(due: true) == .read(isAudit: false))
    #expect(
      policy.readingFailed(error, uptime: start, isStopping: false) == .init(isFirst: false, isForObserver: false))
    policy.readingSucceeded()
    #expect(!policy.isFailing && !policy.pending.needsReading)
    #expect(
      policy.readingFailed(error, uptime: start, isStopping: true) == .init(isFirst: true, isForObserver: false))
  }

  @Test(arguments: [ETIMEDOUT, EAGAIN])
  mutating func aBusyKernelIsReportedAfterItsTime(_ code: Int32) {
    let error = KernelError("barrier", errno: code)
    let busy = NetlinkResyncPolicy.FailureReport(isFirst: false, isForObserver: false)
    #expect(
      policy.readingFailed(error, uptime: start, isStopping: false) == .init(isFirst: true, isForObserver: false))
    let justBefore = start + Limits.busyTimeout - .milliseconds(1)
    #expect(policy.readingFailed(error, uptime: justBefore, isStopping: false) == busy)
    #expect(
      policy.readingFailed(error, uptime: start + Limits.busyTimeout, isStopping: false)
        == .init(isFirst: false, isForObserver: true))
    #expect(policy.readingFailed(error, uptime: start + .seconds(60), isStopping: false) == busy)
  }
}
