internal import Locks
public import ReachabilityModel

/// A scripted kernel with a clock that the test advances: the test double for `KernelSource`.
///
/// ```swift
/// let kernel = ScriptedKernel()
/// let monitor = ReachabilityMonitor(kernel: kernel)
/// try monitor.start()
/// kernel.change { $0.addInterface(2, "eth0", addresses: ["10.0.0.5/24"]); $0.addDefault(via: "10.0.0.1", on: 2) }
/// ```
///
/// Every reading is delivered on the thread that calls ``change(_:_:)``, ``advance(by:)`` or ``refresh()`` before that call
/// returns; but while another reading is being delivered, on this thread or another, it follows that one instead, because
/// a source delivers one at a time. Call ``change(_:_:)``, ``changeWithoutEvent(_:)`` and ``advance(by:)`` from one thread
/// at a time.
///
/// Several monitors may use the same script, started or not: each receives every change.
public final class ScriptedKernel: Sendable {
  private let guarded: Locked<ScriptedKernelState>

  /// A kernel with a loopback interface, or with a script.
  public init(_ script: KernelScript? = nil) {
    var loopback = KernelScript()
    loopback.addLoopback()
    guarded = Locked(ScriptedKernelState(script: script ?? loopback))
  }

  // MARK: - Test control

  /// Sets the error of the next starts; nil for success.
  public func refuseStart(_ error: KernelError?) { guarded.withLock { $0.startError = error } }

  /// Changes the network and delivers a reading, as one batch of kernel events would.
  ///
  /// - Parameters:
  ///   - causes: the causes that do not follow from the tables.
  ///   - body: the change; empty for events that change nothing.
  public func change(_ causes: Set<Cause> = [], _ body: (inout KernelScript) -> Void = { _ in }) {
    let before = guarded.withLock { $0.script }
    changeWithoutEvent(body)
    guarded.withLock { guarded in
      let changes = guarded.script.changes(since: before)
      guarded.withSessions { session in
        session.changes.blocks.formUnion(changes.blocks)
        session.changes.isAny = session.changes.isAny || changes.isAny || causes.contains(.resync)
      }
    }
    deliver(causes)
  }

  /// Changes the network without an event, as the expiry of a route does.
  public func changeWithoutEvent(_ body: (inout KernelScript) -> Void) {
    var script = guarded.withLock { $0.script }
    body(&script)
    let changed = script
    guarded.withLock { $0.script = changed }
  }

  /// Advances the clock, and delivers a reading at each deadline.
  ///
  /// - Parameter duration: the time; at most 10,000 deadlines are handled.
  public func advance(by duration: Duration) {
    let end = guarded.withLock { $0.uptime + duration }
    for _ in 0..<10_000 {
      let due = guarded.withLock { guarded -> Int? in
        guard let (number, deadline) = guarded.nextDeadline, deadline <= end else {
          guarded.uptime = max(guarded.uptime, end)
          return nil
        }
        guarded.uptime = max(guarded.uptime, deadline)
        _ = guarded.withSession(number) { $0.deadline = nil }
        return number
      }
      guard let due else { return }
      deliver([], to: due)
    }
  }

  /// Reports to the observers that the kernel can no longer be read.
  public func fail(_ error: KernelError) {
    let (observers, time) = guarded.withLock { guarded in
      guarded.withSessions { $0.changes.isAny = true }
      return (guarded.sessions.map(\.observer), guarded.now)
    }
    for observer in observers { observer.kernelFailed(error, at: time) }
  }

  /// Performs an audit: reads all tables without an event, as a source does periodically, and compares.
  ///
  /// - Returns: the number of differences from the observers' state, which changes without events cause; 0 while another
  ///   reading is being delivered.
  public func audit() -> Int {
    guarded.withLock { $0.withSessions { $0.isAudit = true } }
    deliver([])
    return guarded.withLock { guarded in
      defer {
        guarded.withSessions { session in
          session.isAudit = false
          session.differences = 0
        }
      }
      return guarded.sessions.reduce(0) { $0 + $1.differences }
    }
  }

  /// The first deadline of the observers, as an uptime; nil for none.
  public var deadline: Duration? { guarded.withLock { $0.nextDeadline?.deadline } }

  /// The time on the script's clock since its boot.
  public var uptime: Duration { guarded.withLock(\.uptime) }

  /// The number of calls that looked up routes.
  public var lookUpCount: Int { guarded.withLock(\.lookUpCount) }
}

extension ScriptedKernel {
  /// Delivers a reading to every observer, in the order of their starts.
  private func deliver(_ causes: Set<Cause>) {
    for number in guarded.withLock({ $0.sessions.map(\.number) }) { deliver(causes, to: number) }
  }

  /// Delivers a reading to one observer, followed by those that were requested meanwhile.
  private func deliver(_ causes: Set<Cause>, to number: Int) {
    guard let observer = guarded.withLock({ $0.beginDelivery(number, causes) }) else { return }
    var causes: Set<Cause>? = causes
    while let now = causes {
      let deadline = read(for: observer, number, now)
      causes = guarded.withLock { $0.endDelivery(number, deadline: deadline) }
    }
  }

  private func read(for observer: any KernelObserver, _ number: Int, _ causes: Set<Cause>) -> Duration? {
    var (script, survey, time) = guarded.withLock { ($0.script, $0.survey(for: number), $0.now) }
    if observer.needsRouteBlocks(for: survey) {
      survey.changes.allBlocks = script.blocks
    }
    let answers = Dictionary(
      observer.routeQueries(for: survey).map { ($0, script.answer($0)) }, uniquingKeysWith: { first, _ in first })
    let reading = KernelReading(
      tables: survey.tables, answers: answers, causes: causes, uptime: survey.uptime, time: time)
    if survey.isAudit {
      let differences = observer.differences(in: reading)
      _ = guarded.withLock { $0.withSession(number) { $0.differences = differences } }
    }
    return observer.ingest(reading)
  }
}

extension ScriptedKernel: KernelSource {
  /// Delivers the first reading, or throws the error of ``refuseStart(_:)``.
  ///
  /// Unlike a real source, it may be started repeatedly, for any number of observers.
  package func start(_ observer: any KernelObserver) throws(KernelError) {
    if let error = guarded.withLock(\.startError) { throw error }
    let number = guarded.withLock { $0.add(observer) }
    deliver([], to: number)
  }

  /// Delivers a reading to every observer.
  public func refresh() { deliver([]) }

  package func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    let script = guarded.withLock { guarded in
      guarded.lookUpCount += queries.count
      return guarded.script
    }
    return Dictionary(queries.map { ($0, script.answer($0)) }, uniquingKeysWith: { first, _ in first })
  }

  /// A script never waits.
  package var answersImmediately: Bool { true }

  /// A script is never blocked.
  package var timeSinceProgress: Duration { .zero }

  /// Releases every observer; a reading that is being delivered on another thread may still reach one.
  package func stop() { end { _ in true } }

  /// Releases one observer; a reading that is being delivered on another thread may still reach it.
  package func stop(for observer: any KernelObserver) { end { $0.observer === observer } }

  private func end(_ matches: (ScriptedKernelState.Session) -> Bool) {
    // Released outside the lock, because the observers may be deinitialized.
    let ended = guarded.withLock { $0.remove(where: matches) }
    withExtendedLifetime(ended) {}
  }
}
