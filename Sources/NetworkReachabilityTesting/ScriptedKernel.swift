internal import Locks
public import ReachabilityModel

/// A kernel that does what a test says, with a clock that the test moves: the test double for ``KernelSource``.
///
/// ```swift
/// let kernel = ScriptedKernel()
/// let monitor = ReachabilityMonitor(kernel: { kernel })
/// try monitor.start()
/// kernel.change { $0.addInterface(2, "eth0", addresses: ["10.0.0.5/24"]); $0.addDefault(via: "10.0.0.1", on: 2) }
/// ```
///
/// Every reading is delivered on the thread that calls ``change(_:_:)``, ``advance(by:)`` or ``fail(_:)`` before that call
/// returns. Call them from one thread at a time.
public final class ScriptedKernel: KernelSource {
  private let guarded: Locked<Guarded>

  private struct Guarded {
    var script: KernelScript
    var observer: (any KernelObserver)?
    var uptime = Duration.seconds(1000)
    var deadline: Duration?
    var startError: KernelError?
    var lookUpCount = 0

    var now: Timestamp {
      let (seconds, attoseconds) = uptime.components
      return Timestamp(microseconds: bootTime + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
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
    var script = guarded.withLock { $0.script }
    body(&script)
    let changed = script
    guarded.withLock { $0.script = changed }
    deliver(causes)
  }

  /// Moves the clock, delivering a reading at each deadline that passes.
  ///
  /// - Parameter duration: how far; at most 10,000 deadlines are served on the way.
  public func advance(by duration: Duration) {
    let end = guarded.withLock { $0.uptime + duration }
    for _ in 0..<10_000 {
      let isDue = guarded.withLock { guarded in
        guard let deadline = guarded.deadline, deadline <= end else {
          guarded.uptime = max(guarded.uptime, end)
          return false
        }
        guarded.uptime = max(guarded.uptime, deadline)
        return true
      }
      guard isDue else { return }
      deliver([])
    }
  }

  /// Tells the observer that the kernel can no longer be read.
  public func fail(_ error: KernelError) {
    let (observer, time) = guarded.withLock { ($0.observer, $0.now) }
    observer?.kernelFailed(error, at: time)
  }

  /// When the observer wants to be called again, on the reading's scale; nil for never.
  public var deadline: Duration? { guarded.withLock(\.deadline) }

  /// The time on the script's clock since its boot.
  public var uptime: Duration { guarded.withLock(\.uptime) }

  /// How many questions were answered by ``lookUp(_:)``.
  public var lookUpCount: Int { guarded.withLock(\.lookUpCount) }

  private func deliver(_ causes: Set<Cause>) {
    let (script, observer) = guarded.withLock { ($0.script, $0.observer) }
    guard let observer else { return }
    let tables = script.tables
    let answers = Dictionary(
      observer.routeQueries(for: tables).map { ($0, script.answer($0)) }, uniquingKeysWith: { first, _ in first })
    let (uptime, time) = guarded.withLock { ($0.uptime, $0.now) }
    let reading = KernelReading(tables: tables, answers: answers, causes: causes, uptime: uptime, time: time)
    let deadline = observer.ingest(reading)
    guarded.withLock { $0.deadline = deadline }
  }

  // MARK: - KernelSource

  /// Delivers the first reading, or throws what ``refuseStart(_:)`` said.
  public func start(_ observer: any KernelObserver) throws(KernelError) {
    if let error = guarded.withLock(\.startError) { throw error }
    guarded.withLock { $0.observer = observer }
    deliver([])
  }

  /// Delivers a reading at once.
  public func refresh() { deliver([]) }

  /// Answers from the script.
  public func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    let script = guarded.withLock { guarded in
      guarded.lookUpCount += queries.count
      return guarded.script
    }
    return Dictionary(queries.map { ($0, script.answer($0)) }, uniquingKeysWith: { first, _ in first })
  }

  /// Lets go of the observer.
  public func stop() {
    guarded.withLock { guarded in
      guarded.observer = nil
      guarded.deadline = nil
    }
  }
}
