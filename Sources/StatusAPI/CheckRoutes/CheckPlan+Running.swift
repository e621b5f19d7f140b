internal import Locks
package import ReachabilityChecks

extension CheckPlan {
  /// Runs the checks in sequence and returns their outcomes.
  package func run(_ checker: Checker) async -> [CheckOutcome] {
    await withCheckedContinuation { continuation in run(checker) { continuation.resume(returning: $0) } }
  }

  /// Runs the checks in sequence and passes their outcomes to `completion`, on any thread.
  ///
  /// - Returns: the run, which can be cancelled when the client disconnects; `completion` is not called then.
  @discardableResult
  func run(_ checker: Checker, _ completion: @escaping @Sendable ([CheckOutcome]) -> Void) -> CheckPlanRun {
    let run = CheckPlanRun()
    runRequest(run, checker, from: 0, [], completion)
    return run
  }

  private func runRequest(
    _ run: CheckPlanRun, _ checker: Checker, from index: Int, _ outcomes: [CheckOutcome],
    _ completion: @escaping @Sendable ([CheckOutcome]) -> Void
  ) {
    guard !run.isCancelled else { return }
    guard requests.indices.contains(index) else { return completion(outcomes) }
    // A repetition must not be answered from the cache with the previous result.
    let check = checker.check(requests[index], maximumAge: index == 0 ? maximumAge : .zero) { outcome in
      runRequest(run, checker, from: index + 1, outcomes + [outcome], completion)
    }
    run.track(check, index)
  }
}

/// The checks of one plan while they run.
final class CheckPlanRun: Sendable {
  private struct State {
    var isCancelled = false
    /// Cancels the running check, which has this index; `track` may be called late for an earlier one.
    var check: (any CheckCancellation)?
    var index = -1
  }

  private let state = Locked(State())

  var isCancelled: Bool { state.withLock(\.isCancelled) }

  func track(_ check: any CheckCancellation, _ index: Int) {
    let isOver = state.withLock { state in
      if index > state.index {
        state.index = index
        state.check = check
      }
      return state.isCancelled
    }
    if isOver { check.cancel() }
  }

  /// Cancels the running check and starts no other.
  func cancel() {
    let check = state.withLock { state in
      state.isCancelled = true
      defer { state.check = nil }
      return state.check
    }
    check?.cancel()
  }
}
