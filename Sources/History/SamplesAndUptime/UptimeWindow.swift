/// A window of time that is divided into steps.
public struct UptimeWindow: Sendable, Equatable {
  /// The beginnings of the steps and the end, in microseconds since 1970, ascending; at least two.
  let bounds: [Int64]

  /// The window.
  public var range: Range<Int64> { (bounds.first ?? 0)..<(bounds.last ?? 0) }
  /// The number of steps.
  public var steps: Int { bounds.count - 1 }

  /// Divides a window into steps of one length, of which the last one may be shorter.
  public init(_ range: Range<Int64>, step: Int64 = .max) {
    bounds = Self.bounds(range, step)
  }

  private static func bounds(_ range: Range<Int64>, _ step: Int64) -> [Int64] {
    let length = min(max(1, step), max(1, Int64(range.count)))
    return Array(stride(from: range.lowerBound, to: range.upperBound, by: Int64.Stride(length))) + [range.upperBound]
  }

  /// A month in a time zone.
  ///
  /// - Parameters:
  ///   - month: the month.
  ///   - zone: the time zone.
  ///   - step: the length of the steps in microseconds; whole days are days of the time zone, which may have 23 or 25 hours.
  public init(_ month: CalendarMonth, in zone: TimeZoneRules, step: Int64 = .max) {
    let day: Int64 = 86_400_000_000
    let days = month.days(in: zone)
    guard step % day == 0, let end = days.last else {
      bounds = Self.bounds(month.range(in: zone), step)
      return
    }
    bounds = stride(from: 0, to: days.count - 1, by: Int(clamping: step / day)).map { days[$0] } + [end]
  }
}
