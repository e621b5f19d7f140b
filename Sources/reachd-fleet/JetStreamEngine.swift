internal import Dispatch
internal import JetStream
internal import Locks
internal import Logging
internal import NATSClient
internal import ReachabilityFleet

/// The engine of a replica on NATS JetStream.
final class JetStreamEngine: FleetEngine {
  /// The time limit of a publication, and of a reading.
  ///
  /// During an election the servers drop requests without a response; the first one after it should be soon.
  static let timeLimit = Duration.seconds(1)
  /// The time limit of the creation of the stream.
  private static let creationTimeLimit = Duration.seconds(3)
  /// Readings that wait for the ones before them.
  private static let waitingReads = 256

  struct State: Sendable {
    var publisher: JetStreamPublisher?
    var reads = 0
    var consumptions: [Int: JetStreamConsumption] = [:]
    var next = 0
  }

  private let messenger: NATSMessenger
  private let state = Locked(State())
  /// Those of consumers; each replaces the one before.
  private let attempts = JetStreamConsumerAttempts()
  private let reads = DispatchQueue(label: "read")

  init(_ messenger: NATSMessenger) {
    self.messenger = messenger
    messenger.onOpen { [weak self] in self?.begin($0) }
    messenger.observeConnection { [weak self] isConnected in
      guard isConnected, let self else { return }
      for consumption in state.withLock({ Array($0.consumptions.values) }) { consumption.restart() }
    }
  }

  func start() { messenger.start() }
  func stop() { messenger.stop() }

  private func begin(_ connection: NATSConnection) {
    do throws(NATSError) {
      let publisher = try JetStreamPublisher(connection)
      state.withLock { $0.publisher = publisher }
    } catch {
      messenger.logger.error("the engine cannot be used", metadata: ["error": "\(error)"])
    }
    for consumption in state.withLock({ Array($0.consumptions.values) }) { consumption.begin(connection, attempts) }
  }

  // MARK: - Stored messages

  func publish(
    _ payload: [UInt8], on subject: FleetSubject, expecting expectation: FleetEngineExpectedLast?,
    completion: @escaping @Sendable (Result<UInt64, FleetEngineError>) -> Void
  ) {
    guard let publisher = state.withLock(\.publisher) else { return completion(.failure(.disconnected)) }
    publisher.publish(
      "\(subject)", payload, expecting: expectation.map(JetStreamLastMessageExpectation.init), within: Self.timeLimit
    ) { completion($0.mapError(FleetEngineError.init)) }
  }

  func lastMessage(
    on subject: FleetSubject,
    completion: @escaping @Sendable (Result<FleetEngineStoredMessage?, FleetEngineError>) -> Void
  ) {
    perform(completion) { connection throws(NATSError) in
      try connection.lastMessage(of: "\(subject)", in: FleetSubject.stream, within: Self.timeLimit)
        .map(FleetEngineStoredMessage.init)
    }
  }

  func streamState(completion: @escaping @Sendable (Result<FleetEngineStreamState?, FleetEngineError>) -> Void) {
    perform(completion) { connection throws(NATSError) in
      do throws(NATSError) {
        return FleetEngineStreamState(try connection.stream(FleetSubject.stream, within: Self.timeLimit))
      } catch {
        guard error.kind == .notFound else { throw error }
        return nil
      }
    }
  }

  func createStream(
    _ configuration: JetStreamConfiguration,
    completion: @escaping @Sendable (Result<FleetEngineStreamState, FleetEngineError>) -> Void
  ) {
    perform(completion) { connection throws(NATSError) in
      FleetEngineStreamState(try connection.createStream(configuration, within: Self.creationTimeLimit))
    }
  }

  private func perform<Value: Sendable>(
    _ completion: @escaping @Sendable (Result<Value, FleetEngineError>) -> Void,
    _ body: @escaping @Sendable (NATSConnection) throws(NATSError) -> Value
  ) {
    let isAdmitted = state.withLock { state in
      guard state.reads < Self.waitingReads else { return false }
      state.reads += 1
      return true
    }
    guard isAdmitted else { return completion(.failure(.failed("too many readings wait"))) }
    reads.async { [self] in
      defer { state.withLock { $0.reads -= 1 } }
      guard let connection = messenger.connection else { return completion(.failure(.disconnected)) }
      completion(Result { () throws(NATSError) in try body(connection) }.mapError(FleetEngineError.init))
    }
  }

  func consume(
    from sequence: UInt64, receive: @escaping @Sendable (FleetEngineDelivery) -> Void
  ) -> any FleetSubscription {
    let consumption = state.withLock { state in
      let number = state.next
      state.next += 1
      let consumption = JetStreamConsumption(sequence, receive) { [weak self] in
        self?.state.withLock { $0.consumptions[number] = nil }
      }
      state.consumptions[number] = consumption
      return consumption
    }
    if let connection = messenger.connection { consumption.begin(connection, attempts) }
    return consumption
  }

  // MARK: - Messages that are not stored

  func send(_ payload: [UInt8], on subject: FleetSubject) { messenger.send(payload, on: subject) }

  func answer(_ payload: [UInt8], on subject: FleetReplySubject) { messenger.answer(payload, on: subject) }

  func subscribe(
    _ subject: String, group: String?, admits: (@Sendable (_ subject: String) -> Bool)?,
    receive: @escaping @Sendable (FleetEngineUnstoredMessage) -> Void
  ) -> any FleetSubscription { messenger.subscribe(subject, group: group, admits: admits, receive: receive) }

  func request(
    _ payload: [UInt8], on subject: FleetSubject, within timeLimit: Duration,
    completion: @escaping @Sendable (Result<[UInt8], FleetEngineError>) -> Void
  ) { messenger.request(payload, on: subject, within: timeLimit, completion: completion) }

  func observeConnection(_ observer: @escaping @Sendable (_ isConnected: Bool) -> Void) {
    messenger.observeConnection(observer)
  }
}
