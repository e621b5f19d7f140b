/// Durations in text form: `500ms`, `5s`, `2m`, `1h`; one number and one unit.
package enum DurationFormat {
  /// Parses a duration; nil for invalid text, for signs, and for more than a year.
  package static func parse(_ text: some StringProtocol) -> Duration? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    // Nine digits are 31 years in seconds: more are a mistake and could overflow.
    guard (1...9).contains(digits.utf8.count), let number = Int64(digits) else { return nil }
    let duration: Duration
    switch text.dropFirst(digits.count) {
    case "us": duration = .microseconds(number)
    case "ms": duration = .milliseconds(number)
    case "s": duration = .seconds(number)
    case "m": duration = .seconds(number * 60)
    case "h": duration = .seconds(number * 3600)
    default: return nil
    }
    return duration <= .seconds(365 * 86_400) ? duration : nil
  }

  /// Returns a duration in the format of ``parse(_:)``, in the largest unit without a fraction.
  ///
  /// It has no loop over the units, because the compiler orders the values of the unrolled loop differently in each
  /// run, and the program would not be reproducible.
  package static func shortest(_ duration: Duration) -> String {
    let microseconds = duration.wholeMicroseconds
    switch microseconds {
    case 0: return "0s"
    case let hours where hours.isMultiple(of: 3_600_000_000): return "\(hours / 3_600_000_000)h"
    case let minutes where minutes.isMultiple(of: 60_000_000): return "\(minutes / 60_000_000)m"
    case let seconds where seconds.isMultiple(of: 1_000_000): return "\(seconds / 1_000_000)s"
    case let milliseconds where milliseconds.isMultiple(of: 1_000): return "\(milliseconds / 1_000)ms"
    default: return "\(microseconds)us"
    }
  }
}
