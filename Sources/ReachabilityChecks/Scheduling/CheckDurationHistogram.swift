/// A cumulative histogram of durations, as Prometheus defines it.
public struct CheckDurationHistogram: Hashable, Sendable {
  /// The upper bounds of the buckets, ascending; longer durations count in ``count`` only.
  public let bounds: [Duration]
  /// For each bound, the number of durations that do not exceed it.
  public var counts: [UInt64] {
    var sum: UInt64 = 0
    return buckets.map { count in
      sum += count
      return sum
    }
  }
  /// For each bound, the number of durations that do not exceed it, but exceed the previous one.
  private var buckets: [UInt64]
  /// The number of durations.
  public private(set) var count: UInt64 = 0
  /// The sum of the durations.
  public private(set) var sum = Duration.zero

  /// 0.5 ms to 10 s in steps of about two.
  public static let defaultBounds: [Duration] = [
    .microseconds(500), .milliseconds(1), .milliseconds(2), .milliseconds(5), .milliseconds(10), .milliseconds(20),
    .milliseconds(50), .milliseconds(100), .milliseconds(200), .milliseconds(500), .seconds(1), .seconds(2),
    .seconds(5), .seconds(10),
  ]

  /// An empty histogram.
  public init(bounds: [Duration] = defaultBounds) {
    self.bounds = bounds
    buckets = Array(repeating: 0, count: bounds.count)
  }

  /// Adds a duration.
  public mutating func observe(_ duration: Duration) {
    count += 1
    sum += duration
    if let bucket = bounds.firstIndex(where: { duration <= $0 }) { buckets[bucket] += 1 }
  }
}
