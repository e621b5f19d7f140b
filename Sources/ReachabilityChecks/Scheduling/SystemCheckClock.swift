internal import Dispatch
internal import EventLoop
internal import NetworkReachability
package import ReachabilityModel

/// The clocks of this machine: CLOCK_BOOTTIME since the creation of this object, and CLOCK_REALTIME.
package final class SystemCheckClock: CheckClock {
  private let start = ContinuousClock.now
  private let label: String

  /// Creates clocks whose timers run on queues with this label.
  package init(label: String = "checks") { self.label = label }

  package var uptime: Duration { .now - start }
  package var time: Timestamp { .now }

  package func makeTimer(_ body: @escaping @Sendable () -> Void) -> any CheckTimer { DispatchTimer(self, label, body) }
}

/// A timer on a queue of its own.
///
/// It starts no thread before it is first armed, because a process must drop its privileges while it has one thread.
/// Unchecked, because the owner arms it under one lock.
private final class DispatchTimer: CheckTimer, @unchecked Sendable {
  private let queue: DispatchQueue
  private let clock: SystemCheckClock
  private let body: @Sendable () -> Void
  private let progress: LoopProgress
  private var source: (any DispatchSourceTimer)?

  init(_ clock: SystemCheckClock, _ label: String, _ body: @escaping @Sendable () -> Void) {
    queue = DispatchQueue(label: label, qos: .userInitiated)
    self.clock = clock
    let progress = LoopProgress("\(label)-queue")
    self.progress = progress
    self.body = { progress.turn(body) }
  }

  deinit {
    source?.cancel()
    progress.end()
  }

  func fire(at uptime: Duration) {
    let nanoseconds = Int(clamping: max(.zero, uptime - clock.uptime).nanoseconds)
    let source = source ?? makeSource()
    source.schedule(deadline: .now() + .nanoseconds(nanoseconds), leeway: .nanoseconds(0))
  }

  func fire() { queue.async(execute: body) }

  private func makeSource() -> any DispatchSourceTimer {
    // Strict, because dispatch otherwise delays timers to save energy.
    let source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
    source.setEventHandler(handler: body)
    source.schedule(deadline: .distantFuture)
    source.activate()
    self.source = source
    return source
  }
}
