internal import Dispatch
internal import NetworkReachability
internal import ReachabilityModel

/// The clocks of this machine: CLOCK_BOOTTIME since it was made, and CLOCK_REALTIME.
final class MachineClock: CheckClock {
  private let start = ContinuousClock.now

  var uptime: Duration { .now - start }
  var time: Timestamp { .now }

  func makeTimer(_ body: @escaping @Sendable () -> Void) -> any CheckTimer { WakeTimer(self, body) }
}

/// A timer that fires exactly when it was told to, on a queue of its own.
///
/// Nothing runs before it is first told to fire: a process that gives its privileges up has one thread until then.
/// Unchecked, because whoever owns it tells it when to fire under one lock.
private final class WakeTimer: CheckTimer, @unchecked Sendable {
  private let queue = DispatchQueue(label: "checks", qos: .userInitiated)
  private let clock: MachineClock
  private let body: @Sendable () -> Void
  private var source: (any DispatchSourceTimer)?

  init(_ clock: MachineClock, _ body: @escaping @Sendable () -> Void) {
    self.clock = clock
    self.body = body
  }

  deinit { source?.cancel() }

  func fire(at uptime: Duration) {
    let nanoseconds = Int(clamping: max(.zero, uptime - clock.uptime).nanoseconds)
    let source = source ?? begin()
    source.schedule(deadline: .now() + .nanoseconds(nanoseconds), leeway: .nanoseconds(0))
  }

  func fire() { queue.async(execute: body) }

  private func begin() -> any DispatchSourceTimer {
    // Strict, because the system otherwise saves energy by being late.
    let source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
    source.setEventHandler(handler: body)
    source.schedule(deadline: .distantFuture)
    source.activate()
    self.source = source
    return source
  }
}
