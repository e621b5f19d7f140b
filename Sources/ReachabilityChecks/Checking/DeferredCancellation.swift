internal import Locks
internal import ReachabilityModel

/// A cancellation that may be requested before there is anything to cancel.
final class DeferredCancellation: ProbeCancellation {
  private struct State {
    var cancellation: (any ProbeCancellation)?
    var isCancelled = false
  }

  private let state = Locked(State())

  func set(_ cancellation: any ProbeCancellation) {
    let isCancelled = state.withLock { state in
      state.cancellation = cancellation
      return state.isCancelled
    }
    if isCancelled { cancellation.cancel() }
  }

  func cancel() {
    let cancellation = state.withLock { state in
      state.isCancelled = true
      return state.cancellation
    }
    cancellation?.cancel()
  }
}
