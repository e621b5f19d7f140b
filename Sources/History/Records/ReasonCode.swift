public import ReachabilityModel

/// A reason as a number, the position of its name in a list that only grows.
public struct ReasonCode: Hashable, Sendable {
  /// The number, from 1.
  public let rawValue: UInt16

  /// Every reason, in the order of the numbers; new ones are appended, none is removed or moved.
  static let table: [Reason] = [
    .noRoute, .unreachableRoute, .blackhole, .prohibited, .linkDown, .noSource, .connectionRequired,
    .interventionRequired, .unknownInterface, .dnsNotFound, .dnsServerFailure, .dnsTimeout, .resolverUnavailable,
    .starting, .kernelUnavailable, .networkUnreachable, .hostUnreachable, .refused, .connectTimeout, .reset,
    .tlsHandshake, .certificateExpired, .certificateUntrusted, .certificateNameMismatch, .httpStatus, .httpBody,
    .noReply, .packetLoss, .slow, .timeout, .policyDenied, .descriptorLimit, .cancelled,
    .bodyTooLong, .notRegistered, .noMembers, .tooManyMembers, .machine, .missing, .settling,
  ]
  private static let numbers = Dictionary(uniqueKeysWithValues: table.enumerated().map { ($1, UInt16($0 + 1)) })

  /// The code of a reason; nil for one that the table does not contain.
  public init?(_ reason: Reason) {
    guard let number = Self.numbers[reason] else { return nil }
    rawValue = number
  }

  /// A code that was stored, which a later version of the program may have written.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The reason; nil for a code of a later version.
  public var reason: Reason? {
    (1...Self.table.count).contains(Int(rawValue)) ? Self.table[Int(rawValue) - 1] : nil
  }
}
