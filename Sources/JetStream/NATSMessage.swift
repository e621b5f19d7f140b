/// A message as it was received.
public struct NATSMessage: Sendable, Hashable {
  /// The subject.
  public var subject: String
  /// The subject for replies; nil for none.
  public var reply: String?
  /// The payload.
  public var payload: [UInt8]
  /// The status of a message without payload: 100 (heartbeat), 404 (no message), 503 (no responders); nil for none.
  public var status: Int?
  /// The headers that were asked for, by name, each with all of its values.
  public var headers: [String: [String]]

  /// Creates a message.
  public init(
    subject: String, reply: String? = nil, payload: [UInt8] = [], status: Int? = nil, headers: [String: [String]] = [:]
  ) {
    self.subject = subject
    self.reply = reply
    self.payload = payload
    self.status = status
    self.headers = headers
  }
}

/// A message of a stream.
public struct JetStreamMessage: Sendable, Hashable {
  /// The subject.
  public var subject: String
  /// The number in the stream.
  public var sequence: UInt64
  /// When the stream's leader stored it, in nanoseconds since 1970.
  public var time: Int64
  /// The payload.
  public var payload: [UInt8]
  /// Whether a server wrote it in response to a read, and not the client that may publish on its subject.
  ///
  /// The subject for the response to a direct get is not subject to the permissions of the client that asks: it can be
  /// one that the stream stores. Such a copy has the header `Nats-Stream`.
  public var isCopy: Bool

  /// Creates a message.
  public init(subject: String, sequence: UInt64, time: Int64, payload: [UInt8], isCopy: Bool = false) {
    self.subject = subject
    self.sequence = sequence
    self.time = time
    self.payload = payload
    self.isCopy = isCopy
  }
}

/// What a reader or a consumer of a stream delivers.
public enum JetStreamDelivery: Sendable, Hashable {
  /// The next message, and how many follow that are stored already; a reader by direct gets says 1 for any number.
  case message(JetStreamMessage, pending: UInt64)
  /// Deliveries stopped; they are tried again.
  case interrupted(JetStreamError)
}
