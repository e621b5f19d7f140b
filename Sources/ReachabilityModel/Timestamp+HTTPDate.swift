extension Timestamp {
  /// Reads a date of HTTP in any of its three forms (RFC 9110 §5.6.7).
  ///
  /// - Parameters:
  ///   - text: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`. The name of the
  ///     weekday is not compared with the date.
  ///   - now: the present time. A year of two digits is not more than 50 years later.
  package init?(httpDate text: String, now: Timestamp) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    let parts: (day: Substring, month: Substring, year: Substring, time: Substring)
    switch words.count {
    case 6 where words[0].hasSuffix(",") && words[5] == "GMT" && words[3].utf8.count == 4:
      parts = (words[1], words[2], words[3], words[4])
    case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
      guard date.count == 3, date[2].utf8.count == 2 else { return nil }
      parts = (date[0], date[1], date[2], words[2])
    case 5 where words[4].utf8.count == 4: parts = (words[2], words[1], words[4], words[3])
    // A space precedes a day of one digit.
    case 6 where words[2].isEmpty && words[3].utf8.count == 1 && words[5].utf8.count == 4:
      parts = ("0" + words[3], words[1], words[5], words[4])
    default: return nil
    }
    guard let month = Self.months.firstIndex(where: { $0 == parts.month }), parts.day.utf8.count == 2,
      let year = Self.year(parts.year, now)
    else { return nil }
    self.init("\(year)-\(month < 9 ? "0" : "")\(month + 1)-\(parts.day)T\(parts.time)Z")
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private static func year(_ digits: Substring, _ now: Timestamp) -> Substring? {
    guard digits.isDecimal else { return nil }
    guard digits.utf8.count == 2, let short = Int(digits), let present = Int(now.description.prefix(4)) else {
      return digits.utf8.count == 4 ? digits : nil
    }
    // What appears to be more than 50 years in the future is the most recent year with these digits.
    let year = present / 100 * 100 + short
    return "\(year > present + 50 ? year - 100 : year <= present - 50 ? year + 100 : year)"[...]
  }
}
