/// How often durations fell below each of some bounds, as Prometheus counts them.
public struct DurationHistogram: Hashable, Sendable {
  /// The upper bounds, ascending; what is longer than the last counts in ``count`` alone.
  public let bounds: [Duration]
  /// For each bound, how many were not longer.
  public private(set) var counts: [UInt64]
  /// How many there were.
  public private(set) var count: UInt64 = 0
  /// All of them together.
  public private(set) var sum = Duration.zero

  /// 0.5 ms to 10 s in steps of about two.
  public static let usualBounds: [Duration] = [
    .microseconds(500), .milliseconds(1), .milliseconds(2), .milliseconds(5), .milliseconds(10), .milliseconds(20),
    .milliseconds(50), .milliseconds(100), .milliseconds(200), .milliseconds(500), .seconds(1), .seconds(2),
    .seconds(5), .seconds(10),
  ]

  /// An empty histogram.
  public init(bounds: [Duration] = usualBounds) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count)
  }

  /// Counts a duration.
  public mutating func note(_ duration: Duration) {
    count += 1
    sum += duration
    for index in bounds.indices.reversed() {
      guard duration <= bounds[index] else { return }
      counts[index] += 1
    }
  }
}
