internal import HTTPRouting
internal import NetworkReachability

/// Moments and windows in query parameters.
enum HistoryTimeParameter {
  /// Parses a moment, which is RFC 3339 or a time before now (`-1h`, `-30d`); nil for anything else.
  static func moment(_ text: String, now: Timestamp) -> Timestamp? {
    guard text.hasPrefix("-") else { return Timestamp(text) }
    return window(text.dropFirst()).map { Timestamp(microseconds: now.microseconds - $0) }
  }

  /// Parses a positive length, such as `90s`, `24h` or `30d`, in microseconds; nil for anything else.
  static func window(_ text: some StringProtocol) -> Int64? {
    if text.hasSuffix("d") {
      let digits = text.dropLast()
      guard (1...4).contains(digits.utf8.count), digits.isDecimal,
        let days = Int64(digits), days > 0
      else { return nil }
      return days * 86_400_000_000
    }
    guard let duration = DurationFormat.parse(text), duration > .zero else { return nil }
    return Int64(duration / .microseconds(1))
  }

  /// Formats a length in microseconds; more than one whole day in days, so that a client that sent `30d` receives `30d` and
  /// not `720h`.
  static func text(_ window: Int64) -> String {
    window > day && window % day == 0 ? "\(window / day)d" : DurationFormat.shortest(.microseconds(window))
  }

  /// Returns the value of a parameter as a moment.
  ///
  /// - Throws: `badRequest` with examples.
  static func moment(_ name: String, _ context: RequestContext, now: Timestamp) throws(Problem) -> Timestamp? {
    guard let text = context.query[name] else { return nil }
    guard let moment = moment(text, now: now) else {
      throw Problem(
        .badRequest,
        "\(name) must be a time such as 2026-01-01T00:00:00Z or -1h, got \(text.prefix(80).debugDescription)")
    }
    return moment
  }

  /// Returns the value of a parameter as a length.
  ///
  /// - Throws: `badRequest` with the bounds.
  static func window(
    _ name: String, _ context: RequestContext, _ bounds: ClosedRange<Int64> = minute...longest
  ) throws(Problem) -> Int64? {
    guard let text = context.query[name] else { return nil }
    guard let window = window(text), bounds.contains(window) else {
      throw Problem(
        .badRequest,
        "\(name) must be a duration between 1m and 400d, such as 24h, got \(text.prefix(80).debugDescription)")
    }
    return window
  }

  static let minute: Int64 = 60_000_000
  static let hour: Int64 = 60 * minute
  static let day: Int64 = 24 * hour
  /// As long as transitions are kept.
  static let longest: Int64 = 400 * day
}
