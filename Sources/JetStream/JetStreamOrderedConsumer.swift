internal import Dispatch
internal import JSONFormat
internal import Locks
public import NATSClient

/// Delivers the messages of a stream in their order, each once, as fast as the handler accepts them.
///
/// The server pushes the messages to a consumer without acknowledgements. The numbers of its deliveries and its heartbeats
/// show a loss; then another consumer begins after the last message that was delivered.
public final class JetStreamOrderedConsumer: Sendable {
  private let connection: NATSConnection
  private let stream: String
  private let attempts: JetStreamConsumerAttempts
  private let handler: @Sendable (JetStreamDelivery) -> Void
  private let state: Locked<State>
  private let timer = NATSRepeatingTimer("consumer", every: Limits.heartbeat)

  /// Begins to deliver.
  ///
  /// - Parameters:
  ///   - connection: the connection.
  ///   - stream: the name of the stream.
  ///   - sequence: the number of the first message to deliver.
  ///   - attempts: those of the consumers that this one replaces.
  ///   - handler: called for one event at a time; while it runs, the server sends at most some megabytes.
  public init(
    _ connection: NATSConnection, stream: String, from sequence: UInt64,
    attempts: JetStreamConsumerAttempts = JetStreamConsumerAttempts(),
    handler: @escaping @Sendable (JetStreamDelivery) -> Void
  ) {
    self.connection = connection
    self.stream = stream
    self.attempts = attempts
    self.handler = handler
    state = Locked(State(next: max(1, sequence)))
    timer.start(self) { $0.check() }
  }

  deinit { cancel() }

  /// Ends the deliveries; one may still be running.
  public func cancel() {
    timer.cancel()
    state.withLock { state in
      state.isCancelled = true
      state.subscription = nil
    }
  }

  /// Creates the server's consumer again, after the connection was lost.
  public func restart() { restart(nil) }

  /// Creates it again, if it is still the one that the server's consumer with a number belongs to.
  private func restart(_ generation: Int?) {
    timer.queue.async { [weak self] in
      guard let self else { return }
      let isCurrent = state.withLock { state in
        guard generation == nil || generation == state.generation else { return false }
        state.subscription = nil
        state.pausedUntil = .now
        return true
      }
      if isCurrent { check() }
    }
  }

  // MARK: - The queue

  /// Creates a consumer when there is none, or when the heartbeats of the present one are missing.
  private func check() {
    let begin = state.withLock { state -> (generation: Int, next: UInt64, timeLimit: Duration, wasSilent: Bool)? in
      guard !state.isCancelled else { return nil }
      let wasActive = state.subscription != nil
      let now = ContinuousClock.now
      let limit =
        state.isHeard
        ? Limits.heartbeat * Limits.missedHeartbeats : attempts.timeLimit(Limits.firstHeartbeatTimeout)
      guard wasActive ? now - state.activity > limit : now >= state.pausedUntil else { return nil }
      state.subscription = nil
      state.isHeard = false
      state.generation += 1
      state.delivered = 0
      state.activity = now
      return (state.generation, state.next, attempts.timeLimit(Limits.creationTimeout), wasActive)
    }
    guard let begin else { return }
    attempts.add()
    if begin.wasSilent {
      handler(.interrupted(NATSError("consume \(stream)", .timedOut, "the heartbeats of the server are missing")))
    }
    do throws(NATSError) {
      let inbox = connection.makeDeliverySubject()
      let subscription = try connection.subscribe(inbox, headers: Self.headers, readsStatus: true) {
        [weak self] message in
        self?.receive(message, begin.generation)
      }
      try create(deliveringTo: inbox, from: begin.next, within: begin.timeLimit)
      // Without the response it would be a consumer that the servers may not know: one sends heartbeats and no messages.
      state.withLock { state in
        state.activity = .now
        if !state.isCancelled, state.generation == begin.generation { state.subscription = subscription }
      }
    } catch {
      if error.kind != .timedOut { state.withLock { $0.pausedUntil = .now + Limits.retryPause } }
      handler(.interrupted(error))
    }
  }

  private static let headers = ["Nats-Last-Consumer", "Nats-Consumer-Stalled"]

  private func create(
    deliveringTo inbox: String, from sequence: UInt64, within timeLimit: Duration
  ) throws(NATSError) {
    let configuration = JSON.members([
      "deliver_subject": .string(inbox), "deliver_policy": "by_start_sequence",
      "opt_start_seq": .integer(Int64(clamping: sequence)), "ack_policy": "none", "max_deliver": .integer(1),
      "replay_policy": "instant", "flow_control": true,
      "idle_heartbeat": .integer(Int64(Limits.heartbeat / .nanoseconds(1))),
      "inactive_threshold": .integer(Int64(Limits.inactivity / .nanoseconds(1))), "mem_storage": true,
      "num_replicas": .integer(1),
    ])
    _ = try connection.api(
      "CONSUMER.CREATE.\(stream)", .members(["stream_name": .string(stream), "config": configuration]),
      "consume \(stream)", within: timeLimit)
  }

  // MARK: - The library's thread

  private enum Step {
    case none
    case deliver(JetStreamMessage, pending: UInt64)
    case respond(subject: String)
    case restart
  }

  private func receive(_ message: NATSMessage, _ generation: Int) {
    let step = state.withLock { state -> Step in
      guard !state.isCancelled, state.generation == generation else { return .none }
      state.activity = .now
      if state.subscription != nil {
        state.isHeard = true
        attempts.reset()
      }
      if message.status == 100 {
        // A request of flow control has a reply subject; a heartbeat names one while the consumer waits for the response.
        if let reply = message.reply { return .respond(subject: reply) }
        if let last = message.headers["Nats-Last-Consumer"]?.first.flatMap({ UInt64($0) }), last != state.delivered {
          return .restart
        }
        return message.headers["Nats-Consumer-Stalled"]?.first.map { .respond(subject: $0) } ?? .none
      }
      guard let position = message.reply.flatMap(JetStreamDeliveryPosition.init(acknowledgement:)) else { return .none }
      guard position.consumerSequence == state.delivered + 1 else { return .restart }
      state.delivered += 1
      // A server to which the first message is still to come may begin with earlier ones, as nats-server 2.9 does.
      guard position.streamSequence >= state.next else { return .none }
      state.next = position.streamSequence + 1
      let received = JetStreamMessage(
        subject: message.subject, sequence: position.streamSequence, time: position.time, payload: message.payload)
      return .deliver(received, pending: position.pending)
    }
    switch step {
    case .none: return
    case .deliver(let message, let pending): handler(.message(message, pending: pending))
    // Without a connection the next heartbeat is missing, too.
    case .respond(let subject): try? connection.publish(subject)
    case .restart: restart(generation)
    }
  }
}
