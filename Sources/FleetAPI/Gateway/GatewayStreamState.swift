internal import Locks
internal import ReachabilityFleet

/// The state of the stream for requests of agents: read once for all that arrive within two seconds.
final class GatewayStreamState: Sendable {
  private struct State: Sendable {
    var last: (state: FleetEngineStreamState, time: ContinuousClock.Instant)?
    var waiting: [@Sendable (FleetEngineStreamState?) -> Void] = []
    var isReading = false
  }

  private let engine: any FleetEngine
  private let state = Locked(State())

  init(_ engine: any FleetEngine) { self.engine = engine }

  /// Calls a closure with the state; nil when it is not known.
  func read(_ complete: @escaping @Sendable (FleetEngineStreamState?) -> Void) {
    let (present, reads) = state.withLock { state -> (FleetEngineStreamState?, Bool) in
      if let last = state.last, .now - last.time < GatewayLimits.stateAge { return (last.state, false) }
      state.waiting.append(complete)
      defer { state.isReading = true }
      return (nil, !state.isReading)
    }
    if let present { return complete(present) }
    guard reads else { return }
    let begin = ContinuousClock.now
    engine.streamState { [self] result in
      let found = (try? result.get()) ?? nil
      let waiting = state.withLock { state in
        state.isReading = false
        state.last = found.map { ($0, begin) }
        defer { state.waiting = [] }
        return state.waiting
      }
      for complete in waiting { complete(found) }
    }
  }
}
