/// Longer than any busy machine needs: no test waits for it.
let patience: Duration = .seconds(30)

struct TooLate: Error {}

/// Waits, generously, until `condition` holds.
func eventually(_ condition: @Sendable () -> Bool) async throws {
  let deadline = ContinuousClock.now + patience
  while !condition() {
    if ContinuousClock.now > deadline { throw TooLate() }
    try await Task.sleep(for: .milliseconds(2))
  }
}
