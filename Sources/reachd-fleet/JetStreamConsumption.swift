internal import JetStream
internal import Locks
internal import ReachabilityFleet

/// The stored messages of some subjects, over as many connections as needed.
final class JetStreamConsumption: FleetSubscription {
  private enum Source: Sendable {
    case reader(JetStreamReader)
    case consumer(JetStreamOrderedConsumer)
  }

  private struct State: Sendable {
    /// The sequence from which a new source begins.
    var next: UInt64
    var source: Source?
    var isCancelled = false
  }

  private let subjects: [String]
  private let receive: @Sendable (FleetEngineDelivery) -> Void
  private let onCancel: @Sendable () -> Void
  private let state: Locked<State>

  init(
    _ number: Int, _ subjects: [String], _ sequence: UInt64,
    _ receive: @escaping @Sendable (FleetEngineDelivery) -> Void,
    onCancel: @escaping @Sendable () -> Void
  ) {
    self.subjects = subjects
    self.receive = receive
    self.onCancel = onCancel
    state = Locked(State(next: sequence))
  }

  /// Begins on a connection, in place of an earlier one.
  func begin(_ connection: NATSConnection, _ reading: JetStreamEngine.Reading, _ attempts: JetStreamConsumerAttempts) {
    let from = state.withLock { state -> UInt64? in
      state.source = nil
      return state.isCancelled ? nil : state.next
    }
    guard let from else { return }
    let handler: @Sendable (JetStreamDelivery) -> Void = { [weak self] delivery in self?.handle(delivery) }
    let stream = FleetSubject.stream
    let source: Source =
      switch reading {
      case .directly:
        .reader(JetStreamReader(connection, stream: stream, subjects: subjects, from: from, handler: handler))
      case .consuming:
        .consumer(
          JetStreamOrderedConsumer(connection, stream: stream, from: from, attempts: attempts, handler: handler))
      }
    state.withLock { state in if !state.isCancelled { state.source = source } }
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
  func restart() {
    switch state.withLock(\.source) {
    case .reader(let reader): reader.restart()
    case .consumer(let consumer): consumer.restart()
    case nil: return
    }
  }

  func cancel() {
    state.withLock { state in
      state.isCancelled = true
      state.source = nil
    }
    onCancel()
  }
}

/// The messages of a subject that are not stored, over as many connections as needed.
final class JetStreamSubscription: FleetSubscription {
  private let subject: String
  private let receive: @Sendable (FleetEngineUnstoredMessage, (@Sendable ([UInt8]) -> Void)?) -> Void
  private let onCancel: @Sendable () -> Void
  private let current = Locked<NATSSubscription?>(nil)

  init(
    _ subject: String,
    _ receive: @escaping @Sendable (FleetEngineUnstoredMessage, (@Sendable ([UInt8]) -> Void)?) -> Void,
    onCancel: @escaping @Sendable () -> Void
  ) {
    self.subject = subject
    self.receive = receive
    self.onCancel = onCancel
  }

  /// Begins on a connection, in place of an earlier one.
  func begin(_ connection: NATSConnection) throws(JetStreamError) {
    let reference = WeakConnection(connection)
    let made = try connection.subscribe(subject) { [receive, reference] message in
      let reply = message.reply.map { subject in
        { @Sendable (payload: [UInt8]) in
          // A sender that does not get the reply asks again.
          try? reference.object?.publish(subject, payload)
          return
        }
      }
      receive(FleetEngineUnstoredMessage(subject: message.subject, payload: message.payload), reply)
    }
    current.withLock { $0 = made }
  }

  func cancel() {
    current.withLock { $0 = nil }
    onCancel()
  }
}

/// A connection that a handler of its own messages does not keep alive.
private final class WeakConnection: Sendable {
  private struct Reference: Sendable { weak var object: NATSConnection? }
  private let reference: Locked<Reference>

  init(_ connection: NATSConnection) { reference = Locked(Reference(object: connection)) }

  var object: NATSConnection? { reference.withLock(\.object) }
}
