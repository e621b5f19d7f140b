/// A target of the fleet as the stream describes it.
public struct FoldedTarget: Sendable {
  /// What is checked, and how votes decide.
  public internal(set) var definition: FleetTarget
  /// Its version.
  public internal(set) var version: UInt64
  /// When the engine stored the definition, in nanoseconds since 1970.
  public internal(set) var definitionTime: Int64
  /// The agents that check it, sorted.
  public internal(set) var assigned: [String] = []
  /// The agents that checked it before, until when their cells count in place of missing ones.
  var leaving: [String: Int64] = [:]
  /// The accepted verdict.
  public internal(set) var verdict: AcceptedVerdict?
  /// The stream sequence of the last message that concerns its votes.
  public internal(set) var changedAt: UInt64
  /// When the engine stored that message, in nanoseconds since 1970.
  var changedTime: Int64
}

/// A verdict that the readers have accepted.
public struct AcceptedVerdict: Hashable, Sendable {
  /// The message.
  public var message: VerdictMessage
  /// Its stream sequence.
  public var sequence: UInt64
  /// When it became the verdict, in nanoseconds since 1970.
  public var since: Int64
  /// When the engine stored the message, in nanoseconds since 1970; later than ``since`` for a restatement.
  public var time: Int64
}
