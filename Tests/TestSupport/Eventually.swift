internal import Glibc

/// The time for which a condition is waited for.
///
/// A machine that stands still for seconds, as a virtual one may, takes little of it: what is waited for stood still, too.
private struct Patience {
  /// What one round counts at most.
  private static let longestRound = Duration.seconds(1)

  private var left: Duration
  private var last = ContinuousClock.now

  init(_ deadline: Duration) { left = deadline }

  /// Counts the time since the last call.
  mutating func isOver() -> Bool {
    let now = ContinuousClock.now
    left -= min(now - last, Self.longestRound)
    last = now
    return left < .zero
  }
}

/// Waits on this thread until a condition holds.
///
/// - Parameters:
///   - deadline: generous, because it only bounds how long a failing test takes.
///   - condition: what is waited for.
/// - Returns: false when it did not hold until the deadline.
/// - Throws: what the condition throws.
@discardableResult
public func eventually<Failure: Error>(
  within deadline: Duration = .seconds(20), _ condition: () throws(Failure) -> Bool
) throws(Failure) -> Bool {
  var patience = Patience(deadline)
  while true {
    if try condition() { return true }
    if patience.isOver() { return false }
    // Often enough to be quick, seldom enough to leave the processor to what is waited for.
    usleep(500)
  }
}

/// Sleeps, in the rare test that has no condition to wait for: a fault must last, a client must be slow, or nothing may happen.
///
/// TidyTests allow no other sleep, and count these.
///
/// - Parameters:
///   - time: as short as the reason allows.
///   - reason: what the time is for.
public func pause(_ time: Duration, because reason: StaticString) { usleep(UInt32(time / .microseconds(1))) }

/// Sleeps without blocking a thread; see the other one.
public func pause(_ time: Duration, because reason: StaticString) async { try? await Task.sleep(for: time) }

/// Waits without blocking a thread until a condition holds.
///
/// - Parameters:
///   - deadline: generous, because it only bounds how long a failing test takes.
///   - condition: what is waited for.
/// - Returns: false when it did not hold until the deadline.
/// - Throws: what the condition throws.
@discardableResult
public func eventually<Failure: Error>(
  within deadline: Duration = .seconds(20), _ condition: () async throws(Failure) -> Bool
) async throws(Failure) -> Bool {
  var patience = Patience(deadline)
  while true {
    if try await condition() { return true }
    if patience.isOver() { return false }
    try? await Task.sleep(for: .milliseconds(1))
    if Task.isCancelled { return false }
  }
}
