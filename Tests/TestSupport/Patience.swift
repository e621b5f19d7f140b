/// Longer than any busy machine needs: no test waits for it.
public let patience: Duration = .seconds(30)

/// A condition did not hold in time.
public struct TooLate: Error {}

/// Waits without blocking a thread until a condition holds, for ``patience`` at most.
///
/// - Parameter condition: what is waited for.
/// - Throws: ``TooLate`` when it did not hold in time.
public func waitUntil(_ condition: @Sendable () -> Bool) async throws {
  guard await eventually(within: patience, { () async in condition() }) else { throw TooLate() }
}
