internal import Locks

/// Stores the last value delivered to a listener, so that no value is delivered twice in succession.
final class LastDeliveredStatus<Value: Equatable & Sendable>: Sendable {
  private let last = Locked<Value?>(nil)

  /// Stores a value that is about to be delivered.
  ///
  /// - Returns: false when it is equal to the last.
  func replace(with value: Value) -> Bool {
    last.withLock { last in
      defer { last = value }
      return last != value
    }
  }
}

/// A closure that may capture values that are not `Sendable`, as the original libraries allow: only the queue that the
/// caller specified calls it.
struct CompatibilityCallback<Input>: @unchecked Sendable {
  let body: (Input) -> Void

  init?(_ body: ((Input) -> Void)?) {
    guard let body else { return nil }
    self.body = body
  }
}
