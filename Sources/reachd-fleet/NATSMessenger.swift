internal import Dispatch
internal import Locks
internal import Logging
internal import NATSClient
internal import ReachabilityFleet

/// Messages that are not stored, over NATS.
///
/// It connects again when the connection has ended, as after the servers refused credentials that were replaced since.
final class NATSMessenger: FleetMessenger {
  /// The wait before a connection that has ended is opened again.
  private static let reopenPause = DispatchTimeInterval.seconds(2)

  private struct State: Sendable {
    var connection: NATSConnection?
    var isConnected = false
    var isStopped = false
    var places = FleetRequestPlaces()
    var observers: [@Sendable (Bool) -> Void] = []
    /// The users of the connection that have to begin again on each new one.
    var beginnings: [@Sendable (NATSConnection) -> Void] = []
    var subscriptions: [Int: NATSMessengerSubscription] = [:]
    var next = 0
    var overload = NATSOverload()
  }

  private let configuration: NATSConfiguration
  let logger: Logger
  private let refuses: (@Sendable (NATSServerVersion) -> String?)?
  private let state = Locked(State())
  private let opening = DispatchQueue(label: "connect")
  private let requests = DispatchQueue(label: "requests", attributes: .concurrent)

  /// Creates a messenger without a connection.
  ///
  /// - Parameters:
  ///   - configuration: the connection.
  ///   - logger: receives what happens to it.
  ///   - refuses: why a server of a version is not used; nil to use it, and every server without this closure.
  init(
    _ configuration: NATSConfiguration, _ logger: Logger,
    refuses: (@Sendable (NATSServerVersion) -> String?)? = nil
  ) {
    self.configuration = configuration
    self.logger = logger
    self.refuses = refuses
  }

  /// Opens the connection; servers that are not available are tried until they are.
  func start() { opening.async { self.open() } }

  /// Closes the connection.
  func stop() {
    let connection = state.withLock { state in
      state.isStopped = true
      defer { state.connection = nil }
      return state.connection
    }
    connection?.close()
  }

  /// The connection; nil while there is none.
  var connection: NATSConnection? { state.withLock(\.connection) }

  /// Calls a closure with the present connection, and with each later one; before ``start()``.
  func onOpen(_ body: @escaping @Sendable (NATSConnection) -> Void) { state.withLock { $0.beginnings.append(body) } }

  // MARK: - Connection

  private func open() {
    guard state.withLock({ !$0.isStopped }) else { return }
    do throws(NATSError) {
      let connection = try NATSConnection(configuration) { [weak self] event in self?.handle(event) }
      state.withLock { $0.connection = connection }
      let (beginnings, subscriptions) = state.withLock { ($0.beginnings, Array($0.subscriptions.values)) }
      for begin in beginnings { begin(connection) }
      for subscription in subscriptions { begin(subscription, on: connection) }
      if connection.isConnected { handle(.connected) }
    } catch {
      logger.error("the engine cannot be used", metadata: ["error": "\(error)"])
      reopen()
    }
  }

  private func reopen() {
    opening.asyncAfter(deadline: .now() + Self.reopenPause) { [weak self] in self?.open() }
  }

  private func handle(_ event: NATSConnection.Event) {
    switch event {
    case .connected:
      // Without a connection it is not complete; ``open()`` reports it then.
      guard let connection, !state.withLock(\.isConnected) else { return }
      // Not on the library's thread, which must not wait for a server.
      opening.async { self.accept(connection) }
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
    guard let count = state.withLock({ $0.overload.add(at: .now) }) else { return }
    logger.warning(
      "messages of the engine arrive faster than they are processed, and some were dropped",
      metadata: ["times": "\(count)"])
  }

  /// Uses a connection, unless the server's version is refused.
  private func accept(_ connection: NATSConnection) {
    guard connection.isConnected, let server = connection.server else { return }
    if let refuses, let version = NATSServerVersion(of: server), let reason = refuses(version) {
      logger.error("the engine's server is not used", metadata: ["server": "\(server)", "reason": "\(reason)"])
      return
    }
    logger.notice("connected to the engine", metadata: ["server": "\(server)"])
    setConnected(true)
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

  // MARK: - Messages

  func send(_ payload: [UInt8], on subject: FleetSubject) {
    // Without a connection nothing is sent.
    try? connection?.publish("\(subject)", payload)
  }

  func answer(_ payload: [UInt8], on subject: FleetReplySubject) {
    // A client that does not get the answer asks again.
    try? connection?.publish("\(subject)", payload)
  }

  func request(
    _ payload: [UInt8], on subject: FleetSubject, within timeLimit: Duration,
    completion: @escaping @Sendable (Result<[UInt8], FleetEngineError>) -> Void
  ) {
    guard state.withLock({ $0.places.take(subject) }) else {
      return completion(.failure(.failed("too many requests wait for replies")))
    }
    requests.async { [self] in
      let result = Result { () throws(NATSError) in
        guard let connection else { throw NATSError("request \(subject)", .disconnected, "there is no connection") }
        return try connection.reply(to: payload, on: subject, within: timeLimit)
      }
      state.withLock { $0.places.release(subject) }
      completion(result.mapError(FleetEngineError.init))
    }
  }

  func subscribe(
    _ subject: String, group: String?, admits: (@Sendable (_ subject: String) -> Bool)?,
    receive: @escaping @Sendable (FleetEngineUnstoredMessage) -> Void
  ) -> any FleetSubscription {
    let (subscription, connection) = state.withLock { state in
      let number = state.next
      state.next += 1
      let subscription = NATSMessengerSubscription(subject, group, admits, receive) { [weak self] in
        self?.state.withLock { $0.subscriptions[number] = nil }
      }
      state.subscriptions[number] = subscription
      return (subscription, state.connection)
    }
    if let connection { begin(subscription, on: connection) }
    return subscription
  }

  private func begin(_ subscription: NATSMessengerSubscription, on connection: NATSConnection) {
    do throws(NATSError) {
      try subscription.begin(connection)
    } catch {
      logger.error("subscription failed", metadata: ["error": "\(error)"])
    }
  }
}
