internal import Dispatch

/// A timer that fires once, exactly when it was told to, on a queue of its own.
///
/// Unchecked, because a dispatch source may be scheduled from any thread but is not marked so.
final class WakeTimer: @unchecked Sendable {
  private let source: any DispatchSourceTimer

  init(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
    // Strict, because the system otherwise saves energy by being late.
    source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
    source.setEventHandler(handler: body)
    source.schedule(deadline: .distantFuture)
    source.activate()
  }

  deinit { source.cancel() }

  /// Fires after this time, in place of any other that was asked for before.
  func fire(after delay: Duration) {
    let nanoseconds = Int(clamping: max(.zero, delay).nanoseconds)
    source.schedule(deadline: .now() + .nanoseconds(nanoseconds), leeway: .nanoseconds(0))
  }
}
