/// A time in UTC, in microseconds since 1970-01-01, from CLOCK_REALTIME.
public struct Timestamp: Hashable, Sendable, Comparable {
  /// Microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
  public let microseconds: Int64

  /// Creates a timestamp from microseconds since 1970.
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Orders timestamps by time.
  public static func < (left: Timestamp, right: Timestamp) -> Bool { left.microseconds < right.microseconds }
}

extension Timestamp: CustomStringConvertible {
  /// RFC 3339 in UTC with microseconds: `2026-11-21T01:02:03.123456Z`.
  public var description: String {
    let day: Int64 = 86_400_000_000
    // Rounded down, not towards 1970, and without overflow for any timestamp.
    let days = microseconds / day - (microseconds % day < 0 ? 1 : 0)
    let rest = (microseconds % day + day) % day
    let date = Self.civil(days)
    let seconds = rest / 1_000_000
    // One buffer instead of a dozen strings: every event contains two or three timestamps.
    var text: [UInt8] = []
    text.reserveCapacity(32)
    func write(_ number: Int64, _ width: Int, then end: Unicode.Scalar) {
      let digits = String(number).utf8
      for _ in 0..<max(0, width - digits.count) { text.append(UInt8(ascii: "0")) }
      text += digits
      text.append(UInt8(ascii: end))
    }
    write(date.year, 4, then: "-")
    write(date.month, 2, then: "-")
    write(date.day, 2, then: "T")
    write(seconds / 3600, 2, then: ":")
    write(seconds / 60 % 60, 2, then: ":")
    write(seconds % 60, 2, then: ".")
    write(rest % 1_000_000, 6, then: "Z")
    return String(decoding: text, as: UTF8.self)
  }

  /// The proleptic Gregorian date of a day number counted from 1970-01-01.
  ///
  /// Years start on 1 March, so that the leap day comes last; 400 years have 146,097 days.
  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }
}

extension Timestamp {
  /// The duration from this timestamp to another one; negative if that one is earlier.
  ///
  /// Saturates for timestamps that no clock has.
  package func duration(to other: Timestamp) -> Duration {
    let (span, overflow) = other.microseconds.subtractingReportingOverflow(microseconds)
    return .microseconds(overflow ? (other < self ? .min : .max) : span)
  }

  /// The timestamp that is `duration` later; saturates.
  package func advanced(by duration: Duration) -> Timestamp {
    let span = duration.wholeMicroseconds
    let (sum, overflow) = microseconds.addingReportingOverflow(span)
    return Timestamp(microseconds: overflow ? (span < 0 ? .min : .max) : sum)
  }
}

extension Duration {
  /// The duration in microseconds, rounded towards zero; saturates.
  package var wholeMicroseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000) }

  /// In milliseconds with three decimals: `0.412`.
  package var inMilliseconds: String {
    let microseconds = max(0, wholeMicroseconds)
    let fraction = String(microseconds % 1_000)
    return "\(microseconds / 1_000).\(String(repeating: "0", count: 3 - fraction.utf8.count))\(fraction)"
  }
}
