/// Messages that are not stored.
///
/// All calls return immediately. Completions are called once, on a thread of the engine, without a lock; they must not
/// block. Calls while the engine is not connected complete with ``FleetEngineError/disconnected``: nothing is kept for
/// later.
public protocol FleetMessenger: AnyObject, Sendable {
  /// Publishes a message; without effect while the engine is not connected.
  func send(_ payload: [UInt8], on subject: FleetSubject)

  /// Answers a request; without effect while the engine is not connected.
  func answer(_ payload: [UInt8], on subject: FleetReplySubject)

  /// Delivers the messages of a subject.
  ///
  /// - Parameters:
  ///   - subject: such as `rx2.hb.*` or `rx2.ask.<id>`.
  ///   - group: the group of which one member receives each message; nil for none.
  ///   - admits: decides from the subject whether a message is received, before anything is copied; nil for all.
  ///   - receive: called for each message, on a thread of the engine.
  /// - Returns: the subscription; it ends when it is cancelled.
  func subscribe(
    _ subject: String, group: String?, admits: (@Sendable (_ subject: String) -> Bool)?,
    receive: @escaping @Sendable (FleetEngineUnstoredMessage) -> Void
  ) -> any FleetSubscription

  /// Sends a request, and waits for its first reply.
  func request(
    _ payload: [UInt8], on subject: FleetSubject, within timeLimit: Duration,
    completion: @escaping @Sendable (Result<[UInt8], FleetEngineError>) -> Void)

  /// Calls a closure with whether the engine is connected: immediately, and after each change.
  func observeConnection(_ observer: @escaping @Sendable (_ isConnected: Bool) -> Void)
}

/// A message that is not stored.
public struct FleetEngineUnstoredMessage: Hashable, Sendable {
  /// The subject.
  public var subject: String
  /// The subject for a reply, as the sender chose it; nil for none.
  public var reply: String?
  /// The message.
  public var payload: [UInt8]

  /// Creates a message.
  public init(subject: String, reply: String? = nil, payload: [UInt8]) {
    self.subject = subject
    self.reply = reply
    self.payload = payload
  }
}

extension FleetMessenger {
  /// Delivers all messages of a subject.
  public func subscribe(
    _ subject: String, group: String?, receive: @escaping @Sendable (FleetEngineUnstoredMessage) -> Void
  ) -> any FleetSubscription { subscribe(subject, group: group, admits: nil, receive: receive) }
}
