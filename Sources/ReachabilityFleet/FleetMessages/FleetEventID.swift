internal import ReachabilityModel

/// The id of an event of the fleet, the same at every replica: `<epoch>-<number>-<check>`.
public struct FleetEventID: Hashable, Sendable, CustomStringConvertible {
  /// A hash of the stream's creation.
  public var epoch: UInt32
  /// The stream sequence of its message × 256, plus the index of the event in it.
  public var number: UInt64
  /// A hash of the event's origin, which differs when the stream lost its end and filled the place again.
  public var check: UInt32

  /// Creates an id from its parts.
  public init(epoch: UInt32, number: UInt64, check: UInt32) {
    self.epoch = epoch
    self.number = number
    self.check = check
  }

  /// The epoch of a stream.
  public static func epoch(created: Int64) -> UInt32 {
    var hash = FleetHash()
    hash.add(UInt64(bitPattern: created))
    return UInt32(truncatingIfNeeded: hash.value)
  }

  /// The stream sequence of its message.
  public var sequence: UInt64 { number / FleetLimits.eventsPerMessage }

  /// The number after which a reader has all events that begin with a message; nothing precedes the first one of a stream.
  public static func number(before sequence: UInt64) -> UInt64 {
    sequence <= 1 ? 0 : sequence &* FleetLimits.eventsPerMessage &- 1
  }

  /// Parses ``description``; nil for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let epoch = Self.hexadecimal(parts[0]), let check = Self.hexadecimal(parts[2]),
      !parts[1].isEmpty, parts[1].isDecimal, let number = UInt64(parts[1])
    else { return nil }
    self.init(epoch: epoch, number: number, check: check)
  }

  private static func hexadecimal(_ text: Substring) -> UInt32? {
    let isDigits = text.utf8.allSatisfy { $0.isASCIIDigit || (0x61...0x66).contains($0) }
    return text.utf8.count == 8 && isDigits ? UInt32(text, radix: 16) : nil
  }

  /// Eight hexadecimal digits, a number, eight hexadecimal digits.
  public var description: String { Self.digits(epoch) + "-" + String(number) + "-" + Self.digits(check) }

  private static func digits(_ number: UInt32) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 8 - text.utf8.count) + text
  }
}
