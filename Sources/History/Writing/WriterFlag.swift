internal import Synchronization

/// A value that is true or false, for any number of threads.
final class WriterFlag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .acquiring) }

  /// Sets the flag; true if it was not set before.
  @discardableResult
  func set() -> Bool { !value.exchange(true, ordering: .acquiringAndReleasing) }

  func clear() { value.store(false, ordering: .releasing) }
}
