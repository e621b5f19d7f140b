internal import ReachabilityModel

/// A month of the Gregorian calendar, such as `2026-10`.
public struct CalendarMonth: Hashable, Sendable, CustomStringConvertible {
  /// The year, 1970 to 9999.
  public let year: Int64
  /// 1 to 12.
  public let month: Int64

  /// Parses four digits, a hyphen and two digits; nil for anything else.
  public init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count == 7, bytes[4] == UInt8(ascii: "-"),
      (bytes[..<4] + bytes[5...]).allSatisfy(\.isASCIIDigit), let year = Int64(text.prefix(4)),
      let month = Int64(text.suffix(2)), year >= 1970, (1...12).contains(month)
    else { return nil }
    (self.year, self.month) = (year, month)
  }

  /// The form that is parsed.
  public var description: String { "\(year)-\(month < 10 ? "0" : "")\(month)" }

  private var days: ClosedRange<Int64> {
    CalendarDay(year: year, month: month)
      .number...CalendarDay(year: month == 12 ? year + 1 : year, month: month % 12 + 1)
      .number
  }

  /// The beginnings of its days in a time zone, and its end, in microseconds since 1970; a day has 23 or 25 hours when the
  /// clocks are changed.
  public func days(in zone: TimeZoneRules) -> [Int64] {
    days.map { zone.start(of: CalendarDay(number: $0)) * 1_000_000 }
  }

  /// The month in a time zone, in microseconds since 1970.
  public func range(in zone: TimeZoneRules) -> Range<Int64> {
    let (first, end) = (CalendarDay(number: days.lowerBound), CalendarDay(number: days.upperBound))
    let start = zone.start(of: first)
    return start * 1_000_000..<max(start, zone.start(of: end)) * 1_000_000
  }
}
