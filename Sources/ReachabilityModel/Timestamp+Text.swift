extension Timestamp {
  /// Parses RFC 3339: `2027-01-01T00:00:00Z`, `2027-01-01T01:00:00.5+01:00`, or a date alone (its start in UTC).
  ///
  /// Nil for anything else, for dates that do not exist, and for leap seconds, which CLOCK_REALTIME does not count.
  public init?(_ text: some StringProtocol) {
    // Concrete, because the readers of other modules' strings would not be specialized: agents read two times a change.
    var reader = DigitReader(Array(String(text).utf8))
    guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
      let day = reader.number(2), (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day)
    else { return nil }
    var microseconds = Self.dayNumber(year, month, day) * 86_400_000_000
    if !reader.isAtEnd {
      guard reader.take("T") || reader.take("t"), let clock = reader.clock(), let offset = reader.offset(),
        reader.isAtEnd
      else { return nil }
      microseconds += clock - offset
    }
    self.init(microseconds: microseconds)
  }

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    let isLeap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// The number of a date counted from 1970-01-01; the inverse of the computation in `description`.
  private static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    // Years start on 1 March, so that the leap day comes last. No year here is below 0.
    let years = year - (month <= 2 ? 1 : 0) + 400
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    return years * 365 + years / 4 - years / 100 + years / 400 + (153 * monthFromMarch + 2) / 5 + day - 1
      - 719_468 - 146_097
  }
}

/// Reads fixed numbers of digits in sequence.
private struct DigitReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard let first = rest.first, first == UInt8(ascii: character) else { return false }
    rest = rest.dropFirst()
    return true
  }

  mutating func number(_ count: Int) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(\.isASCIIDigit) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  /// Hours, minutes, seconds and their fraction, in microseconds; digits beyond microseconds are dropped.
  mutating func clock() -> Int64? {
    guard let hours = number(2), take(":"), let minutes = number(2), take(":"), let seconds = number(2),
      hours < 24, minutes < 60, seconds < 60
    else { return nil }
    var fraction: Int64 = 0
    if take(".") {
      let digits = rest.prefix(while: \.isASCIIDigit)
      guard !digits.isEmpty else { return nil }
      rest = rest.dropFirst(digits.count)
      let six = Array(digits.prefix(6)) + Array(repeating: 0x30, count: max(0, 6 - digits.count))
      fraction = six.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + fraction
  }

  /// `Z`, or hours and minutes ahead of UTC, in microseconds.
  mutating func offset() -> Int64? {
    if take("Z") || take("z") { return 0 }
    let isAhead = take("+")
    guard isAhead || take("-"), let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60
    else { return nil }
    return (isAhead ? 1 : -1) * (hours * 60 + minutes) * 60_000_000
  }
}
