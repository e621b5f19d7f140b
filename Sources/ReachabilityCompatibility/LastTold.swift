internal import Locks

/// Remembers what a listener was told last, so that it hears no news twice.
final class LastTold<Value: Equatable & Sendable>: Sendable {
  private let last = Locked<Value?>(nil)

  /// Takes a value that is about to be told.
  ///
  /// - Returns: false when it is the same as the last.
  func isNews(_ value: Value) -> Bool {
    last.withLock { last in
      defer { last = value }
      return last != value
    }
  }
}

/// A user's closure that may capture what is not `Sendable`, as the parents allow: only the queue that the user named calls
/// it.
struct Callback<Input>: @unchecked Sendable {
  let body: (Input) -> Void

  init?(_ body: ((Input) -> Void)?) {
    guard let body else { return nil }
    self.body = body
  }
}
