/// A day of the proleptic Gregorian calendar, counted from 1970-01-01.
struct CalendarDay: Hashable, Comparable, Sendable {
  /// The days since 1970-01-01.
  var number: Int64

  init(number: Int64) { self.number = number }

  /// - Parameters:
  ///   - year: the year.
  ///   - month: 1 to 12.
  ///   - day: the day of the month; one after its end is of a later month.
  init(year: Int64, month: Int64, day: Int64 = 1) {
    // Years start on 1 March, so that the leap day comes last; 400 years have 146,097 days.
    let shifted = month > 2 ? year : year - 1
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    number = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// 0 for Sunday to 6 for Saturday.
  var weekday: Int64 { ((number + 4) % 7 + 7) % 7 }

  /// The midnight at its beginning, in seconds of a clock that is never set.
  var seconds: Int64 { number * 86_400 }

  static func < (left: CalendarDay, right: CalendarDay) -> Bool { left.number < right.number }
}
