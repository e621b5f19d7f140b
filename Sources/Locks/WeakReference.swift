/// A weak reference that threads share, for the timers and observers of an object, which must not keep it alive.
package final class WeakReference<Object: AnyObject & Sendable>: Sendable {
  private struct Reference: Sendable { weak var object: Object? }
  private let reference = Locked(Reference())

  package init() {}

  /// The object; nil before it is set, and when it was deallocated.
  package var object: Object? {
    get { reference.withLock(\.object) }
    set { reference.withLock { $0.object = newValue } }
  }
}
