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
///
/// Several monitors may have the same script at once, started or not: each hears every change.
public final class ScriptedKernel: Sendable {
  let guarded: Locked<Guarded>

  struct Guarded {
    var script: KernelScript
    /// Those who observe, in the order of their starts.
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

    /// Who wants to be called again first, and when.
    var nextDeadline: (number: Int, deadline: Duration)? {
      sessions.compactMap { session in session.deadline.map { (session.number, $0) } }.min { $0.1 < $1.1 }
    }

    mutating func withSessions(_ body: (inout Session) -> Void) {
      for index in sessions.indices { body(&sessions[index]) }
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
    /// The next reading is an audit.
    var isAudit = false
    var differences = 0
    /// What was announced and not read yet.
    var changes = RouteChanges(isAny: true)
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
      guarded.withSessions { session in
        session.changes.blocks.formUnion(changes.blocks)
        session.changes.isAny = session.changes.isAny || changes.isAny || causes.contains(.resync)
      }
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

  /// Tells the observers that the kernel can no longer be read.
  public func fail(_ error: KernelError) {
    let (observers, time) = guarded.withLock { guarded in
      guarded.withSessions { $0.changes.isAny = true }
      return (guarded.sessions.map(\.observer), guarded.now)
    }
    for observer in observers { observer.kernelFailed(error, at: time) }
  }

  /// Reads everything although nothing was announced, as a source does now and then, and compares.
  ///
  /// - Returns: how many things differed from what the observer held: changes that no event had told of; 0 when another
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

  /// When the first observer wants to be called again, on the reading's scale; nil for never.
  public var deadline: Duration? { guarded.withLock { $0.nextDeadline?.deadline } }

  /// The time on the script's clock since its boot.
  public var uptime: Duration { guarded.withLock(\.uptime) }

  /// How many questions were answered by ``lookUp(_:)``.
  public var lookUpCount: Int { guarded.withLock(\.lookUpCount) }
}
