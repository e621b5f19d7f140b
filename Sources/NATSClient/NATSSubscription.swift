internal import CNATS

/// The messages of a subject, until it is released or cancelled.
@safe public final class NATSSubscription: @unchecked Sendable {
  private let handle: OpaquePointer
  private let handler: UInt
  /// The connection outlives the subscription, and keeps its handle until the library's thread cannot use it any more.
  private let connection: NATSConnection

  fileprivate init(_ handle: OpaquePointer, _ handler: UInt, _ connection: NATSConnection) {
    unsafe self.handle = unsafe handle
    self.handler = handler
    self.connection = connection
  }

  deinit {
    cancel()
    unsafe connection.release(handle)
  }

  /// Ends the subscription; a message that is being handled is handled to its end.
  public func cancel() {
    messageCallbacks.remove(handler)
    _ = unsafe natsSubscription_Unsubscribe(handle)
  }

  /// The messages that were dropped because the handler was too slow.
  public var dropped: Int64 {
    var count: Int64 = 0
    return unsafe natsSubscription_GetDropped(handle, &count) == NATS_OK ? count : 0
  }
}

extension NATSConnection {
  /// Receives the messages of a subject, with wildcards.
  ///
  /// - Parameters:
  ///   - subject: the subject.
  ///   - headers: the headers that the messages have; none where clients send that are not trusted, which may make reading
  ///     them slow.
  ///   - readsStatus: whether messages without payload have a status, which is a header, too.
  ///   - queue: the group of which one member receives each message; nil for none.
  ///   - admits: decides from the subject whether a message is handled, before it is copied; nil for all.
  ///   - handler: called on the library's thread for messages, one at a time; it must not wait for a response.
  /// - Returns: the subscription, which ends with its last reference.
  /// - Throws: an error when the connection is closed or the subject invalid. A server's refusal is an event.
  public func subscribe(
    _ subject: String, headers: [String] = [], readsStatus: Bool = false, queue: String? = nil,
    admits: (@Sendable (String) -> Bool)? = nil, _ handler: @escaping @Sendable (NATSMessage) -> Void
  ) throws(NATSError) -> NATSSubscription {
    let operation = "subscribe \(subject)"
    try checkEnded(operation)
    let number = messageCallbacks.add(
      MessageHandler(headers: headers, readsStatus: readsStatus, admits: admits, body: handler))
    var created: OpaquePointer?
    let closure = unsafe CNATS_closure(number)
    var status =
      if let queue {
        unsafe natsConnection_QueueSubscribe(&created, handle, subject, queue, natsReceived, closure)
      } else {
        unsafe natsConnection_Subscribe(&created, handle, subject, natsReceived, closure)
      }
    if status == NATS_OK {
      status = unsafe natsSubscription_SetPendingLimits(created, Limits.pendingMessages, Limits.pendingBytes)
    }
    guard status == NATS_OK, let created = unsafe created else {
      let error = NATSError.last(operation, status)
      messageCallbacks.remove(number)
      if let created = unsafe created {
        _ = unsafe natsSubscription_Unsubscribe(created)
        unsafe release(created)
      }
      throw error
    }
    return unsafe NATSSubscription(created, number, self)
  }
}

private struct MessageHandler: Sendable {
  var headers: [String]
  var readsStatus: Bool
  var admits: (@Sendable (String) -> Bool)?
  var body: @Sendable (NATSMessage) -> Void
}

private let messageCallbacks = NATSCallbackTable<MessageHandler>()

/// A message has arrived for a subscription.
private func natsReceived(
  _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ message: OpaquePointer?,
  _ closure: UnsafeMutableRawPointer?
) {
  guard let message = unsafe message else { return }
  defer { unsafe natsMsg_Destroy(message) }
  guard let handler = messageCallbacks[UInt(bitPattern: closure)] else { return }
  if let admits = handler.admits {
    guard let subject = unsafe natsMsg_GetSubject(message), unsafe admits(String(cString: subject)) else { return }
  }
  handler.body(unsafe NATSMessage(message, headers: handler.headers, readsStatus: handler.readsStatus))
}
