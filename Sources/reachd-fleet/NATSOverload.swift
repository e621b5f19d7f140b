/// How often the library has dropped messages; the log has a line about it once a minute.
struct NATSOverload: Sendable {
  /// The time between two lines.
  static let interval = Duration.seconds(60)

  private var count = 0
  private var reported: ContinuousClock.Instant?

  /// Counts a report of the library; returns the number since the last line if it is time for another one.
  mutating func add(at now: ContinuousClock.Instant) -> Int? {
    count += 1
    if let reported, now - reported < Self.interval { return nil }
    reported = now
    defer { count = 0 }
    return count
  }
}
