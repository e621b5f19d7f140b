/// The settings of a stream that this package creates: a file on each replica, the oldest messages deleted first, no
/// deletion by clients.
public struct JetStreamConfiguration: Sendable, Hashable {
  /// The name.
  public var name: String
  /// The subjects whose messages it stores, with wildcards.
  public var subjects: [String]
  /// The number of servers that store it: 1, 3 or 5.
  public var replicas: Int
  /// The age at which messages are deleted.
  public var maximumAge: Duration
  /// The size from which the oldest messages are deleted, in bytes.
  public var maximumBytes: Int64
  /// The number of messages on one subject from which its oldest ones are deleted; -1 for any.
  public var messagesPerSubject: Int

  /// Creates settings.
  public init(
    name: String, subjects: [String], replicas: Int, maximumAge: Duration, maximumBytes: Int64,
    messagesPerSubject: Int = -1
  ) {
    self.name = name
    self.subjects = subjects
    self.replicas = replicas
    self.maximumAge = maximumAge
    self.maximumBytes = maximumBytes
    self.messagesPerSubject = messagesPerSubject
  }
}

/// What a server reports about a stream.
public struct JetStreamStatus: Sendable, Hashable {
  /// When it was created, in nanoseconds since 1970: another value is another stream.
  public var created: Int64
  /// The number of the first message; one above the last one when there is none.
  public var firstSequence: UInt64
  /// The number of the last message; 0 when there never was one.
  public var lastSequence: UInt64
  /// The number of messages.
  public var messages: UInt64
  /// The size in bytes.
  public var bytes: UInt64
  /// The number of servers that store it.
  public var replicas: Int
  /// Whether it can store messages: it has a leader, which has heard from the majority of its servers.
  public var hasQuorum: Bool

  /// Creates a status.
  public init(
    created: Int64, firstSequence: UInt64, lastSequence: UInt64, messages: UInt64, bytes: UInt64, replicas: Int,
    hasQuorum: Bool = true
  ) {
    self.created = created
    self.firstSequence = firstSequence
    self.lastSequence = lastSequence
    self.messages = messages
    self.bytes = bytes
    self.replicas = replicas
    self.hasQuorum = hasQuorum
  }
}

/// The expectation of a publish about the last message of its subject.
public enum JetStreamLastMessageExpectation: Sendable, Hashable {
  /// There is none.
  case none
  /// It has this number in the stream.
  case sequence(UInt64)

  /// The value of `Nats-Expected-Last-Subject-Sequence`; 0 stands for no message.
  var headerValue: String {
    switch self {
    case .none: "0"
    case .sequence(let number): "\(number)"
    }
  }
}
