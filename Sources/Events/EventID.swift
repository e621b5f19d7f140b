internal import ReachabilityModel

/// The id of an event, `<epoch>-<sequence>`: its number, and the history that it belongs to.
///
/// The epoch is random and chosen when a history begins: at each start, or with a data directory once, and again after a
/// loss of events. The same sequence with another epoch is another event.
package struct EventID: Hashable, CustomStringConvertible {
  /// Eight hexadecimal digits.
  package var epoch: String
  /// The number of the transition.
  package var sequence: UInt64

  package init(epoch: String, sequence: UInt64) {
    self.epoch = epoch
    self.sequence = sequence
  }

  /// Parses the format of ``description``; nil for any other text.
  package init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    // UInt64(_:) would accept a sign.
    guard parts.count == 2, parts[0].utf8.count == 8, parts[1].isDecimal,
      let sequence = UInt64(parts[1])
    else { return nil }
    self.init(epoch: String(parts[0]), sequence: sequence)
  }

  package static func newEpoch() -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 8 - digits.utf8.count) + digits
  }

  package var description: String { "\(epoch)-\(sequence)" }
}
