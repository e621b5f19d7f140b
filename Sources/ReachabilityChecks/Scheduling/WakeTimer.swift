internal import Dispatch

/// A timer that fires once, exactly when it was told to, on a queue of its own.
///
/// Nothing runs before it is first told to fire: a process that gives its privileges up has one thread until then.
/// Unchecked, because whoever owns it tells it to fire under one lock.
final class WakeTimer: @unchecked Sendable {
  private let queue: DispatchQueue
  private let body: @Sendable () -> Void
  private var source: (any DispatchSourceTimer)?

  init(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
    self.queue = queue
    self.body = body
  }

  deinit { source?.cancel() }

  /// Fires after this time, in place of any other that was asked for before.
  func fire(after delay: Duration) {
    let nanoseconds = Int(clamping: max(.zero, delay).nanoseconds)
    let source = source ?? begin()
    source.schedule(deadline: .now() + .nanoseconds(nanoseconds), leeway: .nanoseconds(0))
  }

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
