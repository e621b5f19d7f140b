internal import Locks

/// Objects of callbacks by number: the library gets the number in place of a pointer, so that a callback that runs after
/// its object was removed does nothing.
final class NATSCallbackTable<Object: Sendable>: Sendable {
  private struct Entries: Sendable {
    var next: UInt = 1
    var objects: [UInt: Object] = [:]
  }

  private let entries = Locked(Entries())

  /// Adds an object; its number is never used again.
  func add(_ object: Object) -> UInt {
    entries.withLock { entries in
      defer { entries.next += 1 }
      entries.objects[entries.next] = object
      return entries.next
    }
  }

  /// Removes an object; a callback in progress may still use it.
  func remove(_ number: UInt) { entries.withLock { $0.objects[number] = nil } }

  /// The object; nil after its removal.
  subscript(_ number: UInt) -> Object? { entries.withLock { $0.objects[number] } }
}
