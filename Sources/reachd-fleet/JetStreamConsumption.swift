internal import JetStream
internal import Locks
internal import NATSClient
internal import ReachabilityFleet

/// The stored messages, over as many connections as needed.
final class JetStreamConsumption: FleetSubscription {
  private struct State: Sendable {
    /// The sequence from which a new consumer begins.
    var next: UInt64
    var consumer: JetStreamOrderedConsumer?
    var isCancelled = false
  }

  private let receive: @Sendable (FleetEngineDelivery) -> Void
  private let onCancel: @Sendable () -> Void
  private let state: Locked<State>

  init(
    _ sequence: UInt64, _ receive: @escaping @Sendable (FleetEngineDelivery) -> Void,
    onCancel: @escaping @Sendable () -> Void
  ) {
    self.receive = receive
    self.onCancel = onCancel
    state = Locked(State(next: sequence))
  }

  /// Begins on a connection, in place of an earlier one.
  func begin(_ connection: NATSConnection, _ attempts: JetStreamConsumerAttempts) {
    let from = state.withLock { state -> UInt64? in
      state.consumer = nil
      return state.isCancelled ? nil : state.next
    }
    guard let from else { return }
    let consumer = JetStreamOrderedConsumer(
      connection, stream: FleetSubject.stream, from: from, attempts: attempts
    ) { [weak self] delivery in self?.handle(delivery) }
    state.withLock { state in if !state.isCancelled { state.consumer = consumer } }
  }

  private func handle(_ delivery: JetStreamDelivery) {
    switch delivery {
    case .interrupted(let error): receive(.interrupted(FleetEngineError(error)))
    case .message(let message, let pending):
      let isExpected = state.withLock { state in
        guard !state.isCancelled, message.sequence >= state.next else { return false }
        state.next = message.sequence + 1
        return true
      }
      if isExpected { receive(.message(FleetEngineStoredMessage(message), pending: pending)) }
    }
  }

  /// Continues without delay after the connection was lost.
  func restart() { state.withLock(\.consumer)?.restart() }

  func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.consumer = nil
    }
    onCancel()
  }
}
