/// An operation on a connection or a stream has failed.
public struct NATSError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What a caller can distinguish.
  public enum Kind: Hashable, Sendable {
    /// There is no connection now; nothing was sent.
    case disconnected
    /// No response arrived in time; whether the request had an effect is unknown.
    case timedOut
    /// No process subscribes to the subject of the request; of the API: no server has JetStream, or none leads it now.
    case noResponders
    /// The expected last sequence of the subject is not the stream's (10071).
    case wrongLastSequence
    /// Another message with an expectation about the same subject is being published (10164, since 2.11).
    case publishInProgress
    /// There is no such stream, consumer or message.
    case notFound
    /// A stream or consumer of this name has other settings.
    case otherConfiguration
    /// The payload is longer than the server permits (`max_payload`).
    case tooLarge
    /// The credentials are wrong, or do not allow the operation.
    case notPermitted
    /// The server refused the request for another reason.
    case refused(code: Int)
    /// The library failed, or the settings are invalid.
    case failed
  }

  /// What was tried: `publish rx2.ev.node1`.
  public var operation: String
  /// The kind of failure.
  public var kind: Kind
  /// The message of the server or of the library.
  public var message: String

  /// Makes an error from its parts.
  public init(_ operation: String, _ kind: Kind, _ message: String) {
    self.operation = operation
    self.kind = kind
    self.message = message
  }

  /// The operation and the message: `publish rx2.ev.node1: wrong last sequence: 4`.
  public var description: String { "\(operation): \(message)" }
}
