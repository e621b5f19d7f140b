internal import ReachabilityModel

/// The yearly changes of the clocks in the form of the variable TZ (POSIX, with the extensions of RFC 9636), such as
/// `CET-1CEST,M3.5.0,M10.5.0/3`.
struct TimeZoneYearRule: Hashable, Sendable {
  private struct Moment: Hashable {
    enum Day: Hashable {
      /// 1 to 365, without 29 February.
      case julian(Int64)
      /// 0 to 365.
      case ordinal(Int64)
      /// Month, week (5 for the last one) and weekday.
      case weekday(month: Int64, week: Int64, day: Int64)
    }

    var day: Day
    /// Seconds after midnight, may be negative or more than a day.
    var time: Int64

    /// The seconds since 1970 by the clock that shows them.
    func seconds(in year: Int64) -> Int64 {
      let first = CalendarDay(year: year, month: 1).number
      let number: Int64
      switch day {
      case .julian(let day):
        let isLeap = CalendarDay(year: year, month: 3).number - first == 60
        number = first + day - 1 + (isLeap && day >= 60 ? 1 : 0)
      case .ordinal(let day): number = first + day
      case .weekday(let month, let week, let weekday):
        let start = CalendarDay(year: year, month: month)
        let end = CalendarDay(year: month == 12 ? year + 1 : year, month: month % 12 + 1).number
        var day = start.number + (weekday - start.weekday + 7) % 7 + (week - 1) * 7
        if day >= end { day -= 7 }
        number = day
      }
      return number * 86_400 + time
    }
  }

  /// Seconds to add to UTC in standard time.
  let standard: Int64
  private var summer: Int64 = 0
  private var begin: Moment?
  private var end: Moment?

  /// The changes in the year of a time and the years beside it, ascending.
  func changes(around time: Int64) -> [TimeZoneRules.Change] {
    guard let begin, let end else { return [] }
    // About the year: the ones beside it are there, too.
    let year = 1970 + min(max(time, 0), 1 << 40) / 31_556_952
    return (year - 1...year + 1).flatMap { year in
      [
        TimeZoneRules.Change(time: begin.seconds(in: year) - standard, offset: summer),
        TimeZoneRules.Change(time: end.seconds(in: year) - summer, offset: standard),
      ]
    }.sorted { $0.time < $1.time }
  }

  // MARK: - Parsing

  /// Parses a rule; nil for anything else.
  init?(_ text: String) {
    var rest = text.utf8[...]
    guard Self.skipName(&rest), let west = Self.time(&rest, hours: 24) else { return nil }
    standard = -west
    if rest.isEmpty { return }
    guard Self.skipName(&rest) else { return nil }
    summer = standard + 3_600
    if rest.first != UInt8(ascii: ",") {
      guard let west = Self.time(&rest, hours: 24) else { return nil }
      summer = -west
    }
    guard let begin = Self.moment(&rest), let end = Self.moment(&rest), rest.isEmpty else { return nil }
    (self.begin, self.end) = (begin, end)
  }

  private typealias Text = Substring.UTF8View

  private static func skip(_ character: Unicode.Scalar, _ rest: inout Text) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// Skips letters, or `<+03>`.
  private static func skipName(_ rest: inout Text) -> Bool {
    if skip("<", &rest) {
      rest = rest.drop { $0 != UInt8(ascii: ">") }
      return skip(">", &rest)
    }
    let name = rest.prefix { (0x41...0x5a).contains($0 & 0xdf) }
    rest = rest.dropFirst(name.count)
    return name.count >= 3
  }

  private static func number(_ rest: inout Text, _ bounds: ClosedRange<Int64>) -> Int64? {
    let digits = rest.prefix(4).prefix(while: \.isASCIIDigit)
    rest = rest.dropFirst(digits.count)
    return Int64(String(digits) ?? "").flatMap { bounds.contains($0) ? $0 : nil }
  }

  /// `[+-]hh[:mm[:ss]]` in seconds.
  private static func time(_ rest: inout Text, hours: Int64) -> Int64? {
    let isNegative = skip("-", &rest)
    if !isNegative { _ = skip("+", &rest) }
    guard let hour = number(&rest, 0...hours) else { return nil }
    var seconds = hour * 3_600
    for unit in [60, 1] as [Int64] {
      guard skip(":", &rest) else { break }
      guard let part = number(&rest, 0...59) else { return nil }
      seconds += part * unit
    }
    return isNegative ? -seconds : seconds
  }

  /// Parses a part such as `,M3.5.0/2`.
  private static func moment(_ rest: inout Text) -> Moment? {
    guard skip(",", &rest), let day = day(&rest) else { return nil }
    guard skip("/", &rest) else { return Moment(day: day, time: 7_200) }
    return time(&rest, hours: 167).map { Moment(day: day, time: $0) }
  }

  private static func day(_ rest: inout Text) -> Moment.Day? {
    if skip("J", &rest) { return number(&rest, 1...365).map(Moment.Day.julian) }
    guard skip("M", &rest) else { return number(&rest, 0...365).map(Moment.Day.ordinal) }
    guard let month = number(&rest, 1...12), skip(".", &rest), let week = number(&rest, 1...5), skip(".", &rest),
      let day = number(&rest, 0...6)
    else { return nil }
    return .weekday(month: month, week: week, day: day)
  }
}
