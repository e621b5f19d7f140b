internal import Locks

/// How often consumers were created in vain, so that the next one waits longer for a server that is slow.
///
/// It is shared by the consumers that replace each other. A longer time limit is kept for some time after it was sufficient:
/// the caller replaces the consumer after each failure, and a server that is slow would never have enough time.
public final class JetStreamConsumerAttempts: Sendable {
  private struct State {
    var failures = 0
    var last = ContinuousClock.now
  }

  private let state = Locked(State())

  /// Creates the count of no attempts.
  public init() {}

  func add(at now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      state.failures = min(state.failures + 1, 100)
      state.last = now
    }
  }

  /// Something arrived.
  func reset(at now: ContinuousClock.Instant = .now) {
    state.withLock { state in if now - state.last > Limits.attemptMemory { state.failures = 0 } }
  }

  /// A time limit that each attempt extends, up to ``Limits/requestTimeout``.
  func timeLimit(_ first: Duration) -> Duration {
    min(first + Limits.attemptStep * state.withLock(\.failures), Limits.requestTimeout)
  }
}
