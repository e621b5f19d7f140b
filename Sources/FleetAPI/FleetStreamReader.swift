internal import Dispatch
internal import Locks
internal import ReachabilityFleet

/// Reads the stream of a fleet for a replica: its state, and its messages through one consumption at a time.
final class FleetStreamReader: Sendable {
  /// Deliveries that are read and not folded yet; the engine's thread then waits, so that the server sends no more.
  private static let waitingDeliveries = 1024

  private struct State {
    var consumption: (any FleetSubscription)?
    /// Deliveries of earlier consumptions are ignored.
    var number: UInt64 = 0
    var isStopped = false
  }

  private let engine: any FleetEngine
  private let createStream: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let queue: DispatchQueue
  private let state = Locked(State())

  /// - Parameters:
  ///   - engine: the engine.
  ///   - queue: where inputs are received.
  ///   - createStream: creates the stream when there is none, and then calls its argument.
  init(
    _ engine: any FleetEngine, on queue: DispatchQueue,
    createStream: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    (self.engine, self.queue, self.createStream) = (engine, queue, createStream)
  }

  /// Requests the state of the stream, and creates the stream first if there is none.
  func readState(since sequence: UInt64, _ receive: @escaping @Sendable (FleetReplica.Input) -> Void) {
    readState(since: sequence, creating: true, receive)
  }

  private func readState(
    since sequence: UInt64, creating: Bool, _ receive: @escaping @Sendable (FleetReplica.Input) -> Void
  ) {
    engine.streamState { [weak self] result in
      guard let self else { return }
      if case .success(nil) = result, creating {
        createStream { self.readState(since: sequence, creating: false, receive) }
        return
      }
      let state = (try? result.get()) ?? nil
      queue.async { receive(.streamState(state, since: sequence)) }
    }
  }

  /// Reads the messages from a sequence number on, in place of an earlier consumption.
  func consume(from sequence: UInt64, _ receive: @escaping @Sendable (FleetReplica.Input) -> Void) {
    let (number, old) = state.withLock { state -> (UInt64, (any FleetSubscription)?) in
      state.number += 1
      defer { state.consumption = nil }
      return (state.number, state.consumption)
    }
    old?.cancel()
    let places = DispatchSemaphore(value: Self.waitingDeliveries)
    let new = engine.consume(from: sequence) { [weak self] delivery in
      guard let self else { return }
      let input: FleetReplica.Input =
        switch delivery {
        case .message(let stored, let pending):
          .message(FleetWire.decode(stored.payload, subject: stored.subject), stored, pending: pending)
        case .interrupted: .interrupted
        }
      places.wait()
      queue.async {
        defer { places.signal() }
        if self.state.withLock({ $0.number == number }) { receive(input) }
      }
    }
    let isObsolete = state.withLock { state in
      guard state.number == number, !state.isStopped else { return true }
      state.consumption = new
      return false
    }
    if isObsolete { new.cancel() }
  }

  /// Ends the consumption; none begins later.
  func stop() {
    let consumption = state.withLock { state in
      state.isStopped = true
      defer { state.consumption = nil }
      return state.consumption
    }
    consumption?.cancel()
  }
}
