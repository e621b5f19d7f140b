/// A histogram of latencies for quantiles: eight buckets for each power of two.
///
/// Merging two sketches is exact: the result is the sketch of all values. A quantile is the middle of a bucket, which
/// differs from the value by 6.25 % at most; values below 16 µs are exact.
public struct LatencySketch: Sendable, Equatable {
  /// The buckets that are not empty, ascending.
  private var buckets: [(index: UInt16, count: UInt32)] = []

  /// An empty sketch.
  public init() {}

  /// Compares the buckets.
  public static func == (left: LatencySketch, right: LatencySketch) -> Bool {
    left.buckets.elementsEqual(right.buckets) { $0 == $1 }
  }

  /// The number of values.
  public var count: Int { buckets.reduce(0) { $0 + Int($1.count) } }

  /// Adds a value in microseconds.
  public mutating func add(_ value: UInt32) { add(1, to: Self.index(of: value)) }

  private mutating func add(_ count: UInt32, to index: UInt16) {
    var position = buckets.count
    while position > 0, buckets[position - 1].index > index { position -= 1 }
    if position > 0, buckets[position - 1].index == index {
      buckets[position - 1].count = UInt32(clamping: Int64(buckets[position - 1].count) + Int64(count))
    } else {
      buckets.insert((index, count), at: position)
    }
  }

  /// Adds all values of another sketch.
  public mutating func merge(_ other: LatencySketch) {
    for bucket in other.buckets { add(bucket.count, to: bucket.index) }
  }

  /// Finds the value below or at which a share of the values lies (nearest rank).
  ///
  /// - Parameter share: from 0 to 1.
  /// - Returns: the value in microseconds; nil without values.
  public func quantile(_ share: Double) -> UInt32? {
    let total = count
    guard total > 0 else { return nil }
    let rank = max(1, min(total, Int((share * Double(total)).rounded(.up))))
    var seen = 0
    for bucket in buckets {
      seen += Int(bucket.count)
      if seen >= rank { return Self.middle(of: bucket.index) }
    }
    return nil
  }

  // MARK: - Buckets

  /// The bucket of a value: its position by leading zeros, and the three bits after the first.
  static func index(of value: UInt32) -> UInt16 {
    guard value >= 8 else { return UInt16(value) }
    let exponent = 31 - value.leadingZeroBitCount
    return UInt16((exponent - 2) * 8 + Int(value >> UInt32(exponent - 3) & 7))
  }

  static func middle(of index: UInt16) -> UInt32 {
    guard index >= 16 else { return UInt32(index) }
    let width = UInt32(1) << (UInt32(index) / 8 - 1)
    return (8 + UInt32(index) % 8) * width + width / 2
  }

  // MARK: - Storage

  func write(to bytes: inout [UInt8]) {
    var last: UInt16 = 0
    for bucket in buckets {
      SampleVarint.append(UInt64(bucket.index - last), to: &bytes)
      SampleVarint.append(UInt64(bucket.count), to: &bytes)
      last = bucket.index
    }
  }

  /// Reads buckets up to the end; nil for bytes that ``write(to:)`` does not write.
  init?(_ reader: inout SampleVarintReader) {
    var last: UInt64 = 0
    while !reader.isAtEnd {
      guard let step = reader.next(), let count = reader.next(), step <= Self.indexLimit else { return nil }
      last += step
      guard last <= Self.indexLimit, let count = UInt32(exactly: count) else { return nil }
      buckets.append((UInt16(last), count))
    }
  }

  /// The bucket of the greatest value.
  private static let indexLimit = UInt64(index(of: .max))
}
