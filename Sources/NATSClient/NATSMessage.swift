/// A message as it was received.
public struct NATSMessage: Sendable, Hashable {
  /// The subject.
  public var subject: String
  /// The subject for replies; nil for none.
  public var reply: String?
  /// The payload.
  public var payload: [UInt8]
  /// The status of a message without payload: 100 (heartbeat), 404 (no message), 503 (no responders); nil for none,
  /// and where it was not asked for.
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
