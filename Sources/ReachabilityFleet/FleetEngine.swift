/// The engine of replicas: an ordered, stored stream of messages, and messages that are not stored.
///
/// Messages are bytes here; `FleetWire` in FleetAPI encodes and decodes ``FleetMessage``, ``HeartbeatMessage``,
/// ``AgentRequest``, ``AgentReply``, ``GatewayRequest`` and ``GatewayAnswer``.
public protocol FleetEngine: FleetMessenger {
  /// Publishes a stored message.
  ///
  /// - Parameters:
  ///   - payload: the message.
  ///   - subject: its subject.
  ///   - expectation: what the subject's last message must be; nil to publish in any case.
  ///   - completion: receives the stream sequence of the message. After ``FleetEngineError/timedOut`` and
  ///     ``FleetEngineError/disconnected`` the message may be stored nevertheless.
  func publish(
    _ payload: [UInt8], on subject: FleetSubject, expecting expectation: FleetEngineExpectedLast?,
    completion: @escaping @Sendable (Result<UInt64, FleetEngineError>) -> Void)

  /// Reads the last stored message of a subject; nil when there is none.
  func lastMessage(
    on subject: FleetSubject,
    completion: @escaping @Sendable (Result<FleetEngineStoredMessage?, FleetEngineError>) -> Void)

  /// Reads the state of the stream; nil when it does not exist.
  func streamState(completion: @escaping @Sendable (Result<FleetEngineStreamState?, FleetEngineError>) -> Void)

  /// Delivers all stored messages, in the order of the stream and each once.
  ///
  /// The implementation detects lost deliveries and repeats them. It does not decide what a rebuilt stream means: the
  /// caller compares ``streamState(completion:)`` with what it has.
  ///
  /// - Parameters:
  ///   - sequence: the first sequence, inclusive.
  ///   - receive: called for each delivery, never concurrently.
  /// - Returns: the consumption; it ends when it is cancelled.
  func consume(
    from sequence: UInt64, receive: @escaping @Sendable (FleetEngineDelivery) -> Void
  ) -> any FleetSubscription
}

/// What the last message of a subject must be for a message to be stored.
public enum FleetEngineExpectedLast: Hashable, Sendable {
  /// The subject has no message.
  case none
  /// The last message has this stream sequence.
  case sequence(UInt64)

  /// The expectation of a message after another one; 0 for none.
  public init(after sequence: UInt64) { self = sequence == 0 ? .none : .sequence(sequence) }
}

/// A failed call to the engine.
public enum FleetEngineError: Error, Hashable, Sendable {
  /// The last message of the subject is another one (10071), or a publication on the subject is under way (10164).
  case unexpectedLast
  /// There was no answer in time; the call may have had its effect.
  case timedOut
  /// The engine is not connected.
  case disconnected
  /// No process has subscribed to the subject of a request.
  case noResponders
  /// There is no stream.
  case noStream
  /// The stream accepts no message: it is full, or its disk is.
  case full
  /// A replica limits what this agent publishes; the same message may be sent after this time.
  case slowDown(Duration)
  /// A replica never stores such a message, for this reason.
  case rejected(String)
  /// Another process with this agent's id is running.
  case duplicate
  /// Another failure, as the engine describes it.
  case failed(String)
}

/// A message of the stream as the engine delivers it.
public struct FleetEngineStoredMessage: Hashable, Sendable {
  /// The subject.
  public var subject: String
  /// The stream sequence, from 1.
  public var sequence: UInt64
  /// When the engine stored it, in nanoseconds since 1970; only to recognize the message and to display.
  public var time: Int64
  /// The message.
  public var payload: [UInt8]

  /// Creates a message.
  public init(subject: String, sequence: UInt64, time: Int64, payload: [UInt8]) {
    self.subject = subject
    self.sequence = sequence
    self.time = time
    self.payload = payload
  }
}

/// What a consumption delivers.
public enum FleetEngineDelivery: Hashable, Sendable {
  /// The next message.
  ///
  /// - Parameter pending: the number of messages that follow and are stored already.
  case message(FleetEngineStoredMessage, pending: UInt64)
  /// Deliveries stopped, and the engine tries again; the caller compares ``FleetEngine/streamState(completion:)``.
  case interrupted(FleetEngineError)
}

/// A subscription or a consumption.
public protocol FleetSubscription: AnyObject, Sendable {
  /// Ends it. One delivery may still be running.
  func cancel()
}

/// The state of the stream.
public struct FleetEngineStreamState: Hashable, Sendable {
  /// When the stream was created, in nanoseconds since 1970: its identity.
  public var created: Int64
  /// The sequence of the first stored message; ``last`` + 1 when it is empty.
  public var first: UInt64
  /// The sequence of the last stored message; 0 in a new stream.
  public var last: UInt64
  /// Whether the stream can store messages: it has a leader and the majority of its servers.
  public var hasQuorum: Bool

  /// Creates a state.
  public init(created: Int64, first: UInt64, last: UInt64, hasQuorum: Bool = true) {
    self.hasQuorum = hasQuorum
    self.created = created
    self.first = first
    self.last = last
  }
}

extension FleetEngineStreamState {
  /// Whether a message is in the part that the stream drops next, by age or by size, or was dropped already; false while
  /// the stream has all of its messages.
  ///
  /// - Parameters:
  ///   - sequence: the stream sequence of the message.
  ///   - rank: 0 for a third of the stream; less for the processes that publish it again if the one before does not.
  /// - Returns: whether to publish it again.
  public func dropsSoon(_ sequence: UInt64, rank: Int = 0) -> Bool {
    first > 1 && last >= first && sequence < first + (last - first) / UInt64(3 * (rank + 1))
  }
}

/// A position in one stream.
public struct FleetEngineStreamPosition: Hashable, Sendable {
  /// The sequence of a message.
  public var sequence: UInt64
  /// When the stream was created, in nanoseconds since 1970.
  public var created: Int64

  /// Creates a position.
  public init(sequence: UInt64, created: Int64) {
    self.sequence = sequence
    self.created = created
  }
}
