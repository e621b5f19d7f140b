internal import Glibc

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
  let limit = ContinuousClock.now + deadline
  while true {
    if try condition() { return true }
    if ContinuousClock.now > limit { return false }
    // Often enough to be quick, seldom enough to leave the processor to what is waited for.
    usleep(500)
  }
}

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
  let limit = ContinuousClock.now + deadline
  while true {
    if try await condition() { return true }
    if ContinuousClock.now > limit { return false }
    try? await Task.sleep(for: .milliseconds(1))
    if Task.isCancelled { return false }
  }
}
