package import ReachabilityModel

/// One transition as the history stores it: codes instead of names, about 65 bytes with its indexes.
public struct TransitionRecord: Hashable, Sendable {
  /// What changed.
  package var type: EventType
  /// The state before.
  public var old: StateCode
  /// The state after.
  public var new: StateCode
  /// Why the new state is not the best one; nil when it is.
  public var reason: ReasonCode?
  /// The causes.
  public var causes: StoredCauses
  /// Further properties.
  public var flags: TransitionFlags

  /// Makes a record from its parts.
  package init(
    type: EventType, old: StateCode, new: StateCode, reason: ReasonCode? = nil, causes: StoredCauses = [],
    flags: TransitionFlags = []
  ) {
    self.type = type
    self.old = old
    self.new = new
    self.reason = reason
    self.causes = causes
    self.flags = flags
  }
}

/// Properties of a transition beside its states; the bits are stored, so that they never change.
public struct TransitionFlags: OptionSet, Hashable, Sendable {
  /// One bit per property.
  public let rawValue: UInt8
  /// Creates flags from their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// The first verdict of a run.
  public static let initial = TransitionFlags(rawValue: 1 << 0)
  /// The subject was removed.
  public static let removed = TransitionFlags(rawValue: 1 << 1)
  /// The target's state changes so often that it is not meaningful.
  public static let flapping = TransitionFlags(rawValue: 1 << 2)
  /// The service was killed, or the power failed.
  public static let unclean = TransitionFlags(rawValue: 1 << 3)
}
