public import NATSClient

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
}

/// What a consumer of a stream delivers.
public enum JetStreamDelivery: Sendable, Hashable {
  /// The next message, and how many follow that are stored already.
  case message(JetStreamMessage, pending: UInt64)
  /// Deliveries stopped; they are tried again.
  case interrupted(NATSError)
}
