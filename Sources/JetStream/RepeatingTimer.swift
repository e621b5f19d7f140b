internal import Dispatch
internal import Locks

/// A timer that runs a closure on a queue at an interval, the first time when it is activated.
@safe final class RepeatingTimer: @unchecked Sendable {
  private let source: any DispatchSourceTimer

  init(on queue: DispatchQueue, every interval: Duration, _ body: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(queue: queue)
    source.setEventHandler(handler: body)
    source.schedule(deadline: .now(), repeating: .milliseconds(Int(interval / .milliseconds(1))))
  }

  deinit {
    // A source that was never activated must not be released.
    source.cancel()
    source.activate()
  }

  func activate() { source.activate() }

  func cancel() { source.cancel() }
}

/// A weak reference for a closure that is made before its object is complete.
final class WeakReference<Object: AnyObject & Sendable>: Sendable {
  private struct Value: Sendable { weak var object: Object? }
  private let value = Locked(Value())

  var object: Object? {
    get { value.withLock(\.object) }
    set { value.withLock { $0.object = newValue } }
  }
}
