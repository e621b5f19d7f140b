internal import CNATS

extension NATSConnection {
  /// Sends a message.
  ///
  /// - Throws: an error without a connection, or for a payload that is too long; no response is waited for.
  public func publish(
    _ subject: String, _ payload: [UInt8] = [], reply: String? = nil, sending headers: [String: String] = [:]
  ) throws(NATSError) {
    let operation = "publish \(subject)"
    let message = unsafe try makeMessage(subject, payload, reply: reply, headers, operation)
    defer { unsafe natsMsg_Destroy(message) }
    let status = unsafe natsConnection_PublishMsg(handle, message)
    guard status == NATS_OK else { throw NATSError.last(operation, status) }
  }

  /// Sends a request and waits for the first reply.
  ///
  /// - Parameters:
  ///   - subject: the subject.
  ///   - payload: the payload.
  ///   - timeLimit: how long to wait.
  ///   - headers: the headers of the reply that the result has.
  ///   - sent: the headers of the request.
  /// - Returns: the reply.
  /// - Throws: `noResponders`, `timedOut` or another error.
  public func request(
    _ subject: String, _ payload: [UInt8] = [], within timeLimit: Duration, headers: [String] = [],
    sending sent: [String: String] = [:]
  ) throws(NATSError) -> NATSMessage {
    let operation = "request \(subject)"
    let message = unsafe try makeMessage(subject, payload, reply: nil, sent, operation)
    defer { unsafe natsMsg_Destroy(message) }
    var reply: OpaquePointer?
    let status = unsafe natsConnection_RequestMsg(&reply, handle, message, timeLimit.wholeMilliseconds)
    guard status == NATS_OK, let reply = unsafe reply else { throw NATSError.last(operation, status) }
    defer { unsafe natsMsg_Destroy(reply) }
    return unsafe NATSMessage(reply, headers: headers, readsStatus: true)
  }

  /// Sends a request whose reply no other client can guess the subject of, and waits for the first reply.
  ///
  /// The subject for the reply has 128 random bits, and its subscription is exact and ends after one message: other clients
  /// may publish below the prefix. A reply without payload counts as none: no header of the reply is read.
  ///
  /// - Parameters:
  ///   - subject: the subject.
  ///   - payload: the payload.
  ///   - prefix: the first token of the subject for the reply.
  ///   - timeLimit: how long to wait.
  /// - Returns: the reply.
  /// - Throws: `noResponders`, `timedOut` or another error.
  public func ask(
    _ subject: String, _ payload: [UInt8], replyPrefix prefix: String, within timeLimit: Duration
  ) throws(NATSError) -> NATSMessage {
    let operation = "request \(subject)"
    let token = [UInt64.random(in: .min ... .max), .random(in: .min ... .max)].map { String($0, radix: 36) }
    let inbox = "\(prefix).\(token.joined(separator: "x"))"
    try checkConnected(operation)
    try checkEnded(operation)
    var made: OpaquePointer?
    var status = unsafe natsConnection_SubscribeSync(&made, handle, inbox)
    guard status == NATS_OK, let subscription = unsafe made else { throw NATSError.last(operation, status) }
    defer {
      unsafe natsSubscription_Unsubscribe(subscription)
      unsafe release(subscription)
    }
    status = unsafe natsSubscription_AutoUnsubscribe(subscription, 1)
    guard status == NATS_OK else { throw NATSError.last(operation, status) }
    try publish(subject, payload, reply: inbox)
    var reply: OpaquePointer?
    status = unsafe natsSubscription_NextMsg(&reply, subscription, timeLimit.wholeMilliseconds)
    guard status == NATS_OK, let reply = unsafe reply else { throw NATSError.last(operation, status) }
    defer { unsafe natsMsg_Destroy(reply) }
    // The server's message that there is no subscription has no payload. Its header is not read: other clients may answer with any.
    guard unsafe natsMsg_GetDataLength(reply) > 0 else {
      throw NATSError(operation, .noResponders, "no process has subscribed to \(subject)")
    }
    return unsafe NATSMessage(reply, headers: [], readsStatus: false)
  }

  /// Makes a message of the library; the caller destroys it.
  private func makeMessage(
    _ subject: String, _ payload: [UInt8], reply: String?, _ headers: [String: String], _ operation: String
  ) throws(NATSError) -> OpaquePointer {
    try checkConnected(operation)
    guard payload.count <= Limits.payload else {
      throw NATSError(operation, .tooLarge, "\(payload.count) bytes, at most \(Limits.payload)")
    }
    var made: OpaquePointer?
    var status = unsafe payload.withUnsafeBytes { bytes in
      unsafe natsMsg_Create(
        &made, subject, reply, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
    }
    guard status == NATS_OK, let message = unsafe made else { throw NATSError.last(operation, status) }
    for (name, value) in headers where status == NATS_OK {
      status = unsafe natsMsgHeader_Set(message, name, value)
    }
    guard status == NATS_OK else {
      unsafe natsMsg_Destroy(message)
      throw NATSError.last(operation, status)
    }
    return unsafe message
  }
}
