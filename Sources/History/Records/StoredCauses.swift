public import ReachabilityModel

/// The causes of a transition, a bit for each in a list that only grows.
public struct StoredCauses: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: UInt32
  /// Creates a set from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Every cause, in the order of the bits; new ones are appended, none is removed or moved.
  static let table: [Cause] = [
    .linkUp, .linkDown, .carrierGained, .carrierLost, .addressAdded, .addressRemoved, .routeAdded, .routeRemoved,
    .routeReplaced, .routeExpired, .ruleChanged, .nexthopChanged, .neighbourChanged, .dnsChanged, .resync, .resume,
    .configuration, .check, .restart, .renamed,
  ]
  private static let bits = Dictionary(uniqueKeysWithValues: table.enumerated().map { ($1, UInt32(1) << $0) })

  /// The set of some causes; those that the table does not contain are omitted.
  public init(_ causes: some Sequence<Cause>) {
    rawValue = causes.reduce(0) { $0 | (Self.bits[$1] ?? 0) }
  }

  /// The causes, in the order of the table.
  public var causes: [Cause] {
    Self.table.indices.filter { rawValue & 1 << UInt32($0) != 0 }.map { Self.table[$0] }
  }
}
