/// Times as NATS writes them: `2026-11-23T10:15:30.123456789Z`, with up to nine digits after the point.
enum NATSTime {
  /// Nanoseconds since 1970; nil for another form, or another zone than UTC.
  static func nanoseconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"), bytes[10] == UInt8(ascii: "T"),
      let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
      let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
      (1...12).contains(month)
    else { return nil }
    var fraction: Int64 = 0
    if bytes.count > 20 {
      let digits = bytes[20..<(bytes.count - 1)]
      guard bytes[19] == UInt8(ascii: "."), (1...9).contains(digits.count), let value = number(digits) else {
        return nil
      }
      fraction = value
      for _ in digits.count..<9 { fraction *= 10 }
    }
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
    let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let sum = nanoseconds.addingReportingOverflow(fraction)
    // 64 bits end in the year 2262.
    return overflow || sum.overflow ? nil : sum.partialValue
  }

  /// Days from 1970-01-01 in the Gregorian calendar: years begin in March, so that a leap day is their last day.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    digits.allSatisfy { (48...57).contains($0) } ? digits.reduce(0) { $0 * 10 + Int64($1 - 48) } : nil
  }
}
