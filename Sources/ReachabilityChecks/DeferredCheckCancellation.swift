internal import Locks
internal import ReachabilityModel

/// A cancellation that may be requested before there is anything to cancel.
final class DeferredCheckCancellation: CheckCancellation {
  private struct State {
    var cancellation: (any CheckCancellation)?
    var isCancelled = false
  }

  private let state = Locked(State())

  func set(_ cancellation: any CheckCancellation) {
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
