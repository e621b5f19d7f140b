/// The length of a step of latencies.
public enum LatencyStep: String, Sendable, CaseIterable {
  /// From the samples, which are kept for 48 hours.
  case minute = "1m"
  /// From the hourly roll-ups.
  case hour = "1h"
  /// From the daily roll-ups; days are of UTC.
  case day = "1d"

  /// The length in milliseconds.
  public var length: Int64 {
    switch self {
    case .minute: 60_000
    case .hour: 3_600_000
    case .day: 86_400_000
    }
  }
}
