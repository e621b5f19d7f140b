internal import Locks
public import ReachabilityModel

/// A kernel that does what a test says, with a clock that the test moves: the test double for `KernelSource`.
///
/// ```swift
/// let kernel = ScriptedKernel()
/// let monitor = ReachabilityMonitor(kernel: { kernel })
/// try monitor.start()
/// kernel.change { $0.addInterface(2, "eth0", addresses: ["10.0.0.5/24"]); $0.addDefault(via: "10.0.0.1", on: 2) }
/// ```
///
/// Every reading is delivered on the thread that calls ``change(_:_:)``, ``advance(by:)`` or ``refresh()`` before that call
/// returns; but while another reading is being delivered, on this thread or another, it follows that one instead, because
/// a source delivers one at a time. Call ``change(_:_:)``, ``changeWithoutEvent(_:)`` and ``advance(by:)`` from one thread
/// at a time.
public final class ScriptedKernel: Sendable {
  let guarded: Locked<Guarded>

  struct Guarded {
    var script: KernelScript
    var session: Session?
    var sessionCount = 0
    var uptime = Duration.seconds(1000)
    var startError: KernelError?
    var lookUpCount = 0
    /// The next reading is an audit.
    var isAudit = false
    var differences = 0
    /// What was announced and not read yet.
    var changes = RouteChanges(isAny: true)

    var now: Timestamp {
      let (seconds, attoseconds) = uptime.components
      return Timestamp(microseconds: bootTime + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
  }

  /// What belongs to one observer, from its start to the stop.
  struct Session {
    let number: Int
    let observer: any KernelObserver
    var deadline: Duration?
    var isDelivering = false
    /// What was asked for while a reading was being delivered.
    var next: Set<Cause>?
  }

  /// 2026-01-01T00:00:00Z less the uptime at the start, so that tests see round times.
  private static let bootTime: Int64 = 1_767_225_600_000_000 - 1_000_000_000

  /// A kernel with a loopback interface, or what `script` says.
  public init(_ script: KernelScript? = nil) {
    var loopback = KernelScript()
    loopback.addLoopback()
    guarded = Locked(Guarded(script: script ?? loopback))
  }

  // MARK: - For the test

  /// The next starts throw this; nil for success.
  public func refuseStart(_ error: KernelError?) { guarded.withLock { $0.startError = error } }

  /// Changes the network and delivers a reading, as one batch of kernel events would.
  ///
  /// - Parameters:
  ///   - causes: what the events said that the tables do not show.
  ///   - body: the change; empty for events that change nothing.
  public func change(_ causes: Set<Cause> = [], _ body: (inout KernelScript) -> Void = { _ in }) {
    let before = guarded.withLock { $0.script }
    changeWithoutEvent(body)
    guarded.withLock { guarded in
      let changes = guarded.script.changes(since: before)
      guarded.changes.blocks.formUnion(changes.blocks)
      guarded.changes.isAny = guarded.changes.isAny || changes.isAny || causes.contains(.resync)
    }
    deliver(causes)
  }

  /// Changes the network without an event, as a route does whose life runs out.
  public func changeWithoutEvent(_ body: (inout KernelScript) -> Void) {
    var script = guarded.withLock { $0.script }
    body(&script)
    let changed = script
    guarded.withLock { $0.script = changed }
  }

  /// Moves the clock, delivering a reading at each deadline that passes.
  ///
  /// - Parameter duration: how far; at most 10,000 deadlines are served on the way.
  public func advance(by duration: Duration) {
    let end = guarded.withLock { $0.uptime + duration }
    for _ in 0..<10_000 {
      let isDue = guarded.withLock { guarded in
        guard let deadline = guarded.session?.deadline, deadline <= end else {
          guarded.uptime = max(guarded.uptime, end)
          return false
        }
        guarded.uptime = max(guarded.uptime, deadline)
        guarded.session?.deadline = nil
        return true
      }
      guard isDue else { return }
      deliver([])
    }
  }

  /// Tells the observer that the kernel can no longer be read.
  public func fail(_ error: KernelError) {
    let (observer, time) = guarded.withLock { guarded in
      guarded.changes.isAny = true
      return (guarded.session?.observer, guarded.now)
    }
    observer?.kernelFailed(error, at: time)
  }

  /// Reads everything although nothing was announced, as a source does now and then, and compares.
  ///
  /// - Returns: how many things differed from what the observer held: changes that no event had told of; 0 when another
  ///   reading is being delivered.
  public func audit() -> Int {
    guarded.withLock { $0.isAudit = true }
    deliver([])
    return guarded.withLock { guarded in
      guarded.isAudit = false
      defer { guarded.differences = 0 }
      return guarded.differences
    }
  }

  /// When the observer wants to be called again, on the reading's scale; nil for never.
  public var deadline: Duration? { guarded.withLock { $0.session?.deadline } }

  /// The time on the script's clock since its boot.
  public var uptime: Duration { guarded.withLock(\.uptime) }

  /// How many questions were answered by ``lookUp(_:)``.
  public var lookUpCount: Int { guarded.withLock(\.lookUpCount) }

  /// Delivers a reading, and after it those that were asked for meanwhile.
  func deliver(_ causes: Set<Cause>) {
    let session = guarded.withLock { guarded -> Session? in
      guard let session = guarded.session else { return nil }
      if session.isDelivering {
        guarded.session?.next = (session.next ?? []).union(causes)
        return nil
      }
      guarded.session?.isDelivering = true
      return session
    }
    guard let session else { return }
    var causes: Set<Cause>? = causes
    while let now = causes {
      let deadline = read(for: session.observer, now)
      causes = guarded.withLock { guarded in
        // The observer may have stopped, and perhaps started, this kernel meanwhile.
        guard guarded.session?.number == session.number else { return nil }
        let next = guarded.session?.next
        guarded.session?.deadline = deadline
        guarded.session?.isDelivering = next != nil
        guarded.session?.next = nil
        return next
      }
    }
  }

  private func read(for observer: any KernelObserver, _ causes: Set<Cause>) -> Duration? {
    let isListed = observer.needsRouteBlocks(isAfterLoss: guarded.withLock { $0.changes.isAny || $0.isAudit })
    var (script, survey, time) = guarded.withLock { guarded in
      defer {
        guarded.changes = RouteChanges()
        guarded.isAudit = false
      }
      if guarded.isAudit { guarded.changes.isAny = true }
      let survey = KernelSurvey(
        tables: guarded.script.tables, changes: guarded.changes, uptime: guarded.uptime, isAudit: guarded.isAudit)
      return (guarded.script, survey, guarded.now)
    }
    if isListed { survey.changes.allBlocks = script.blocks }
    let answers = Dictionary(
      observer.routeQueries(for: survey).map { ($0, script.answer($0)) }, uniquingKeysWith: { first, _ in first })
    let reading = KernelReading(
      tables: survey.tables, answers: answers, causes: causes, uptime: survey.uptime, time: time)
    if survey.isAudit {
      let differences = observer.differences(in: reading)
      guarded.withLock { $0.differences = differences }
    }
    return observer.ingest(reading)
  }
}
