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
  let guarded: Locked<Guarded>

  struct Guarded {
    var script: KernelScript
    /// The observers, in the order of their starts.
    var sessions: [Session] = []
    var sessionCount = 0
    var uptime = Duration.seconds(1000)
    var startError: KernelError?
    var lookUpCount = 0

    var now: Timestamp {
      let (seconds, attoseconds) = uptime.components
      return Timestamp(microseconds: bootTime + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }

    /// Changes one session; nil when it has ended.
    mutating func withSession<Result>(_ number: Int, _ body: (inout Session) -> Result) -> Result? {
      sessions.firstIndex { $0.number == number }.map { body(&sessions[$0]) }
    }

    /// The session with the first deadline.
    var nextDeadline: (number: Int, deadline: Duration)? {
      sessions.compactMap { session in session.deadline.map { (session.number, $0) } }.min { $0.1 < $1.1 }
    }

    mutating func withSessions(_ body: (inout Session) -> Void) {
      for index in sessions.indices { body(&sessions[index]) }
    }
  }

  /// The state of one observer, from its start to the stop.
  struct Session {
    let number: Int
    let observer: any KernelObserver
    var deadline: Duration?
    var isDelivering = false
    /// The causes of a reading that was requested during a delivery.
    var next: Set<Cause>?
    /// The next reading is an audit.
    var isAudit = false
    var differences = 0
    /// The announced changes that were not read yet.
    var changes = RouteChanges(isAny: true)
  }

  /// 2026-01-01T00:00:00Z less the uptime at the start, so that tests see round times.
  private static let bootTime: Int64 = 1_767_225_600_000_000 - 1_000_000_000

  /// A kernel with a loopback interface, or with a script.
  public init(_ script: KernelScript? = nil) {
    var loopback = KernelScript()
    loopback.addLoopback()
    guarded = Locked(Guarded(script: script ?? loopback))
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
