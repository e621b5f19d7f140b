internal import Dispatch
internal import JetStream
internal import Locks
internal import Logging
internal import ReachabilityFleet

extension JetStreamEngine {
  // MARK: - Stored messages

  func publish(
    _ payload: [UInt8], on subject: FleetSubject, expecting expectation: FleetEngineExpectedLast?,
    completion: @escaping @Sendable (Result<UInt64, FleetEngineError>) -> Void
  ) {
    let isAdmitted = state.withLock { state in
      guard state.publications < Self.waitingPublications else { return false }
      state.publications += 1
      return true
    }
    guard isAdmitted else { return completion(.failure(.failed("too many publications wait"))) }
    let lane = publishing[Int(UInt(bitPattern: subject.id.hashValue) % UInt(publishing.count))]
    let start = ContinuousClock.now
    perform(
      on: lane,
      { [self] result in
        state.withLock { $0.publications -= 1 }
        completion(result)
      }
    ) { connection throws(JetStreamError) in
      guard .now - start < Self.publicationPatience else {
        throw JetStreamError("publish \(subject)", .timedOut, "earlier publications took too long")
      }
      return try connection.publish(
        "\(subject)", payload, expecting: expectation.map(JetStreamLastMessageExpectation.init),
        within: Self.electionTimeLimit)
    }
  }

  func lastMessage(
    on subject: FleetSubject,
    completion: @escaping @Sendable (Result<FleetEngineStoredMessage?, FleetEngineError>) -> Void
  ) {
    perform(on: reads, completion) { connection throws(JetStreamError) in
      try connection.lastMessage(of: "\(subject)", in: FleetSubject.stream, within: Self.timeLimit)
        .map(FleetEngineStoredMessage.init)
    }
  }

  func streamState(completion: @escaping @Sendable (Result<FleetEngineStreamState?, FleetEngineError>) -> Void) {
    perform(on: reads, completion) { connection throws(JetStreamError) in
      do throws(JetStreamError) {
        return FleetEngineStreamState(try connection.stream(FleetSubject.stream, within: Self.electionTimeLimit))
      } catch {
        guard error.kind == .notFound else { throw error }
        return nil
      }
    }
  }

  /// Creates the stream, or finds it; only replicas may.
  func createStream(
    _ configuration: JetStreamConfiguration,
    completion: @escaping @Sendable (Result<FleetEngineStreamState, FleetEngineError>) -> Void
  ) {
    perform(on: reads, completion) { connection throws(JetStreamError) in
      FleetEngineStreamState(try connection.createStream(configuration, within: Self.timeLimit))
    }
  }

  private func perform<Value: Sendable>(
    on queue: DispatchQueue, _ completion: @escaping @Sendable (Result<Value, FleetEngineError>) -> Void,
    _ body: @escaping @Sendable (NATSConnection) throws(JetStreamError) -> Value
  ) {
    queue.async { [self] in
      guard let connection = state.withLock(\.connection) else { return completion(.failure(.disconnected)) }
      completion(Result { () throws(JetStreamError) in try body(connection) }.mapError(FleetEngineError.init))
    }
  }

  func consume(
    _ subjects: [String], from sequence: UInt64, receive: @escaping @Sendable (FleetEngineDelivery) -> Void
  ) -> any FleetSubscription {
    let (consumption, connection) = state.withLock { state in
      let number = state.next
      state.next += 1
      let consumption = JetStreamConsumption(number, subjects, sequence, receive) { [weak self] in
        self?.state.withLock { $0.consumptions[number] = nil }
      }
      state.consumptions[number] = consumption
      return (consumption, state.connection)
    }
    if let connection { begin(consumption, on: connection) }
    return consumption
  }

  func begin(_ consumption: JetStreamConsumption, on connection: NATSConnection) {
    consumption.begin(connection, reading, attempts)
  }

  // MARK: - Messages that are not stored

  func send(_ payload: [UInt8], on subject: FleetSubject) {
    // Without a connection nothing is sent.
    try? state.withLock(\.connection)?.publish("\(subject)", payload)
  }

  func subscribe(
    _ subject: String,
    receive:
      @escaping @Sendable (_ message: FleetEngineUnstoredMessage, _ reply: (@Sendable ([UInt8]) -> Void)?) -> Void
  ) -> any FleetSubscription {
    let (subscription, connection) = state.withLock { state in
      let number = state.next
      state.next += 1
      let subscription = JetStreamSubscription(subject, receive) { [weak self] in
        self?.state.withLock { $0.subscriptions[number] = nil }
      }
      state.subscriptions[number] = subscription
      return (subscription, state.connection)
    }
    if let connection { begin(subscription, on: connection) }
    return subscription
  }

  func begin(_ subscription: JetStreamSubscription, on connection: NATSConnection) {
    do throws(JetStreamError) {
      try subscription.begin(connection)
    } catch {
      logger.error("subscription failed", metadata: ["error": "\(error)"])
    }
  }

  func request(
    _ payload: [UInt8], on subject: FleetSubject, within timeLimit: Duration,
    completion: @escaping @Sendable (Result<[UInt8], FleetEngineError>) -> Void
  ) {
    let isAdmitted = state.withLock { state in
      guard state.requests < Self.concurrentRequests else { return false }
      state.requests += 1
      return true
    }
    guard isAdmitted else { return completion(.failure(.failed("too many requests wait for replies"))) }
    perform(
      on: requests,
      { [self] result in
        state.withLock { $0.requests -= 1 }
        completion(result)
      }
    ) { connection throws(JetStreamError) in
      try connection.request("\(subject)", payload, within: timeLimit).payload
    }
  }
}
