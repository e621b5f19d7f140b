internal import Locks

/// How often consumers were created in vain, so that the next one waits longer for a server that is slow.
///
/// It is shared by the consumers that replace each other.
public final class JetStreamConsumerAttempts: Sendable {
  private let failures = Locked(0)

  /// Creates the count of no attempts.
  public init() {}

  /// Counts an attempt.
  func add() { failures.withLock { $0 = min($0 + 1, 100) } }

  /// Something arrived.
  func reset() { failures.withLock { $0 = 0 } }

  /// A time limit that each attempt extends, up to ``Limits/requestTimeout``.
  func timeLimit(_ first: Duration) -> Duration {
    min(first + Limits.attemptStep * failures.withLock(\.self), Limits.requestTimeout)
  }
}
