internal import Dispatch
internal import JetStream
internal import Locks
internal import Logging
internal import ReachabilityFleet

/// The engine on NATS JetStream.
///
/// It connects again when the connection has ended, as after the servers refused credentials that were replaced since.
final class JetStreamEngine: FleetEngine {
  /// How stored messages are read.
  enum Reading: Sendable {
    /// By direct gets, which need no permission to create consumers: for agents.
    case directly
    /// By an ordered consumer: for replicas, which read everything.
    case consuming
  }

  /// The time limit of a read: an election among the servers takes longer, and is tried again.
  static let timeLimit = Duration.seconds(3)
  /// The time limit of a publication, and of a reading of the stream's state.
  ///
  /// During an election the servers drop requests without a response; the first one after it should be soon.
  static let electionTimeLimit = Duration.seconds(1)
  /// The wait before a connection that has ended is opened again.
  private static let reopenPause = Duration.seconds(2)
  /// Requests to agents that wait for their replies: each occupies a thread.
  static let concurrentRequests = 32
  /// Publications that are under way together, each on a thread: the reports of a lost zone need not wait for each other.
  private static let lanes = 4
  /// Publications that wait; those of replicas are repeated when the stream does not have them.
  static let waitingPublications = 4096
  /// How long a publication may wait: replicas repeat reports after this time.
  static let publicationPatience = FleetLimits.reportRepetition

  struct State: Sendable {
    var connection: NATSConnection?
    var isConnected = false
    var isStopped = false
    var requests = 0
    var publications = 0
    var observers: [@Sendable (Bool) -> Void] = []
    var consumptions: [Int: JetStreamConsumption] = [:]
    var subscriptions: [Int: JetStreamSubscription] = [:]
    var next = 0
    var overload = JetStreamOverload()
  }

  let configuration: NATSConfiguration
  let reading: Reading
  let logger: Logger
  let state = Locked(State())
  /// Those of consumers; each replaces the one before.
  let attempts = JetStreamConsumerAttempts()
  /// Publications; those about one node or target keep their order.
  let publishing = (0..<lanes).map { DispatchQueue(label: "publish \($0)") }
  let reads = DispatchQueue(label: "read")
  let requests = DispatchQueue(label: "requests", attributes: .concurrent)

  init(_ configuration: NATSConfiguration, _ reading: Reading, _ logger: Logger) {
    self.configuration = configuration
    self.reading = reading
    self.logger = logger
  }

  /// Opens the connection; servers that are not available are tried until they are.
  func start() { reads.async { self.open() } }

  /// Closes the connection.
  func stop() {
    let connection = state.withLock { state in
      state.isStopped = true
      defer { state.connection = nil }
      return state.connection
    }
    connection?.close()
  }

  /// The server that it is connected to; nil without a connection.
  var server: String? { state.withLock(\.connection)?.server }

  // MARK: - Connection

  private func open() {
    guard state.withLock({ !$0.isStopped }) else { return }
    do throws(JetStreamError) {
      let connection = try NATSConnection(configuration) { [weak self] event in self?.handle(event) }
      state.withLock { $0.connection = connection }
      let (consumptions, subscriptions) = state.withLock {
        (Array($0.consumptions.values), Array($0.subscriptions.values))
      }
      for consumption in consumptions { begin(consumption, on: connection) }
      for subscription in subscriptions { begin(subscription, on: connection) }
      if connection.isConnected { handle(.connected) }
    } catch {
      logger.error("the engine cannot be used", metadata: ["error": "\(error)"])
      reopen()
    }
  }

  private func reopen() {
    reads.asyncAfter(deadline: .now() + .milliseconds(Int(Self.reopenPause / .milliseconds(1)))) { [weak self] in
      self?.open()
    }
  }

  private func handle(_ event: NATSConnection.Event) {
    switch event {
    case .connected:
      // Without a connection it is not complete; ``open()`` reports it then.
      guard let connection = state.withLock(\.connection), !state.withLock(\.isConnected) else { return }
      logger.notice("connected to the engine", metadata: ["server": "\(connection.server ?? "")"])
      setConnected(true)
      for consumption in state.withLock({ Array($0.consumptions.values) }) { consumption.restart() }
    case .disconnected:
      logger.warning("the connection to the engine is lost")
      setConnected(false)
    case .refused(let text): logger.error("the engine refused", metadata: ["error": "\(text)"])
    case .overloaded: reportOverload()
    case .closed(let text):
      setConnected(false)
      guard state.withLock({ !$0.isStopped }) else { return }
      logger.error(
        "the engine's servers do not accept the connection; check fleet.credentialsFile and fleet.ca",
        metadata: ["error": "\(text)"])
      reopen()
    }
  }

  /// The library reports it for many of the messages that it drops.
  private func reportOverload() {
    let count = state.withLock { state in state.overload.add(at: .now) }
    guard let count else { return }
    logger.warning(
      "messages of the engine arrive faster than they are processed, and some were dropped",
      metadata: ["times": "\(count)"])
  }

  private func setConnected(_ isConnected: Bool) {
    let observers = state.withLock { state -> [@Sendable (Bool) -> Void] in
      guard state.isConnected != isConnected else { return [] }
      state.isConnected = isConnected
      return state.observers
    }
    for observer in observers { observer(isConnected) }
  }

  func observeConnection(_ observer: @escaping @Sendable (_ isConnected: Bool) -> Void) {
    let isConnected = state.withLock { state in
      state.observers.append(observer)
      return state.isConnected
    }
    observer(isConnected)
  }
}
