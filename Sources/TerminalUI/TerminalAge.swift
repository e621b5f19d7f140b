/// Durations and latencies as short text.
package enum TerminalAge {
  /// The latest time in milliseconds since 1970, and with the sign reversed the earliest: the end of the year 9999.
  ///
  /// Another service may send any number, and sums with it must not overflow.
  private static let latest: Int64 = 253_402_300_799_999

  /// Returns a time in milliseconds since 1970 that another service has sent, within the years that can be shown.
  static func clamped(milliseconds: Int64) -> Int64 { min(max(-latest, milliseconds), latest) }

  /// Returns a duration in seconds that another service has sent, in microseconds; at most 31 years.
  static func microseconds(_ seconds: Double) -> Int64 {
    Int64(exactly: (min(max(0, seconds), 1e9) * 1e6).rounded()) ?? 0
  }

  /// Returns the two largest units of a duration: `4m 12s`, `3d 4h`.
  package static func text(milliseconds: Int64) -> String {
    let seconds = max(0, milliseconds) / 1000
    let parts = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")]
    guard let first = parts.firstIndex(where: { $0.0 > 0 }) else { return "0s" }
    return parts[first...].prefix(2).enumerated().filter { $0.offset == 0 || $0.element.0 > 0 }
      .map { "\($0.element.0)\($0.element.1)" }.joined(separator: " ")
  }

  /// Returns a latency with three digits: `0.41 ms`, `12.3 ms`, `1.52 s`.
  package static func latency(microseconds: Int64) -> String {
    let tenths = { (value: Int64, unit: Int64) in "\(value / unit).\(value % unit * 10 / unit)" }
    switch microseconds {
    case ..<10_000: return "\(microseconds / 1_000).\(padded(microseconds % 1_000 / 10)) ms"
    case ..<100_000: return "\(tenths(microseconds, 1_000)) ms"
    case ..<1_000_000: return "\(microseconds / 1_000) ms"
    default: return "\(microseconds / 1_000_000).\(padded(microseconds % 1_000_000 / 10_000)) s"
    }
  }

  private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
