/// The samples of one target in an hour or a day: their number, and the distribution of the latencies.
public struct LatencyRollup: Sendable, Equatable {
  /// The number of samples.
  public private(set) var count: UInt64 = 0
  /// The number of samples of targets that did not answer: state `down`.
  public private(set) var failed: UInt64 = 0
  /// The shortest latency in microseconds; nil without any.
  public private(set) var minimum: UInt32?
  /// The longest latency in microseconds; nil without any.
  public private(set) var maximum: UInt32?
  /// The sum of the latencies in microseconds.
  private var sum: UInt64 = 0
  private var sketch = LatencySketch()

  /// No samples.
  public init() {}

  /// The roll-up of samples.
  public init(_ samples: some Sequence<Sample>) {
    for sample in samples { add(sample) }
  }

  /// The mean latency in microseconds; nil without any.
  public var mean: Double? {
    let latencies = sketch.count
    return latencies == 0 ? nil : Double(sum) / Double(latencies)
  }

  /// Returns a quantile of the latencies in microseconds, within 6.25 % and between minimum and maximum; nil without any.
  public func quantile(_ share: Double) -> UInt32? {
    guard let minimum, let maximum, let value = sketch.quantile(share) else { return nil }
    return min(max(value, minimum), maximum)
  }

  /// Adds a sample.
  public mutating func add(_ sample: Sample) {
    count += 1
    if sample.state == .down { failed += 1 }
    guard let latency = sample.latency else { return }
    minimum = min(minimum ?? latency, latency)
    maximum = max(maximum ?? latency, latency)
    sum += UInt64(latency)
    sketch.add(latency)
  }

  /// Adds the samples of another roll-up.
  ///
  /// The sums wrap around, because the numbers of a damaged file must not end the process.
  public mutating func merge(_ other: LatencyRollup) {
    count &+= other.count
    failed &+= other.failed
    if let least = other.minimum { minimum = min(minimum ?? least, least) }
    if let greatest = other.maximum { maximum = max(maximum ?? greatest, greatest) }
    sum &+= other.sum
    sketch.merge(other.sketch)
  }

  /// The stored form.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    SampleVarint.append(count, to: &bytes)
    SampleVarint.append(failed, to: &bytes)
    guard let minimum, let maximum else { return bytes }
    SampleVarint.append(UInt64(minimum), to: &bytes)
    SampleVarint.append(UInt64(maximum - minimum), to: &bytes)
    SampleVarint.append(sum, to: &bytes)
    sketch.write(to: &bytes)
    return bytes
  }

  /// Reads the stored form; nil for any other bytes.
  public init?(bytes: [UInt8]) {
    var reader = SampleVarintReader(bytes[...])
    guard let count = reader.next(), let failed = reader.next() else { return nil }
    (self.count, self.failed) = (count, failed)
    if reader.isAtEnd { return }
    guard let least = reader.next().flatMap(UInt32.init(exactly:)), let span = reader.next(), let sum = reader.next(),
      let greatest = UInt32(exactly: span).map({ least.addingReportingOverflow($0) }), !greatest.overflow,
      let sketch = LatencySketch(&reader)
    else { return nil }
    (minimum, maximum, self.sum, self.sketch) = (least, greatest.partialValue, sum, sketch)
  }
}
