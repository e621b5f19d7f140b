/// The last message that a replica has read, to recognize a stream that lost its end and filled it again.
public struct FleetStreamTail: Hashable, Sendable {
  /// The stream sequence; 0 before the first message.
  public private(set) var sequence: UInt64 = 0
  private var time: Int64 = 0
  private var hash: UInt64 = 0

  /// The tail of a fold without messages.
  public init() {}

  /// What a message is for a fold with this tail.
  public enum Step: Hashable, Sendable {
    /// It follows.
    case next
    /// It was folded already.
    case known
    /// Another message has the place of the last one: the fold has to begin again.
    case fork
  }

  /// Where to consume from: the last message again, because it may be another one now.
  public var start: UInt64 { max(sequence, 1) }

  /// Decides about a message, and makes it the tail when it follows.
  public mutating func take(_ message: FleetEngineStoredMessage) -> Step {
    var hash = FleetHash()
    for byte in message.payload { hash.add(byte) }
    if message.sequence == sequence {
      return message.time == time && hash.value == self.hash ? .known : .fork
    }
    guard message.sequence > sequence else { return .known }
    sequence = message.sequence
    time = message.time
    self.hash = hash.value
    return .next
  }

  /// Whether the stream cannot contain the tail any longer: its end is before it.
  ///
  /// - Parameters:
  ///   - state: the engine's answer.
  ///   - sequence: ``sequence`` at the time of the request: what was read since may be missing in the answer.
  /// - Returns: whether messages that were read are not in the stream.
  public func isBeyond(_ state: FleetEngineStreamState, requestedAt sequence: UInt64) -> Bool {
    min(sequence, self.sequence) > state.last
  }
}
