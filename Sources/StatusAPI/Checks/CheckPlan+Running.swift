internal import Locks
package import ReachabilityChecks

extension CheckPlan {
  /// Makes the checks one after the other and waits for them.
  package func run(_ checker: Checker) async -> [CheckOutcome] {
    await withCheckedContinuation { continuation in run(checker) { continuation.resume(returning: $0) } }
  }

  /// Makes the checks one after the other; `completion` takes their outcomes, on any thread.
  ///
  /// - Returns: the means to end them, when nobody waits any more: `completion` is not called then.
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
    // A repetition must not be content with the one before it.
    let check = checker.check(requests[index], maximumAge: index == 0 ? maximumAge : .zero) { outcome in
      runRequest(run, checker, from: index + 1, outcomes + [outcome], completion)
    }
    run.track(check, index)
  }
}

/// The checks of one plan while they are made.
final class CheckPlanRun: Sendable {
  private struct State {
    var isCancelled = false
    /// What ends the check under way, and which one that is: an earlier one may be told of later.
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

  /// Ends the check under way and begins no other.
  func cancel() {
    let check = state.withLock { state in
      state.isCancelled = true
      defer { state.check = nil }
      return state.check
    }
    check?.cancel()
  }
}
