/// One result of a check, as the history keeps it.
public struct Sample: Sendable, Equatable {
  /// When the check began, in milliseconds since 1970.
  public var time: Int64
  /// The duration of the check in microseconds; nil unless the target answered.
  public var latency: UInt32?
  /// The result.
  public var state: State

  /// The result of a check.
  ///
  /// The raw values are stored.
  public enum State: UInt8, Sendable, CaseIterable {
    /// The checks were inconclusive.
    case unknown
    /// It answered.
    case up
    /// It did not answer.
    case down
    /// There was no path to it.
    case unreachable
  }

  /// The latest time that a row may have, in milliseconds since 1970.
  static let latestTime = Limits.latestTime / 1_000

  /// Creates a sample.
  public init(time: Int64, latency: UInt32?, state: State) {
    self.time = time
    self.latency = latency
    self.state = state
  }
}

/// The samples of one target in one hour, compressed to about five bytes each.
///
/// For each sample: the difference between its distance to the previous one and the previous distance, with the state in
/// the lowest bits, then the latency. Checks are regular, so the first number usually takes one or two bytes.
public struct SampleChunk: Sendable, Equatable {
  /// The compressed samples; they can be stored, and read with ``init(bytes:hour:)``.
  public private(set) var bytes: [UInt8]
  /// The hour, counted from 1970.
  public let hour: Int64
  private var lastTime: Int64
  private var lastDistance: Int64 = 0

  /// The milliseconds of an hour.
  static let hourLength: Int64 = 3_600_000

  /// An empty chunk.
  public init(hour: Int64) {
    bytes = []
    self.hour = hour
    lastTime = hour * Self.hourLength
  }

  /// Reads a stored chunk, to append to it.
  public init(bytes: [UInt8], hour: Int64) {
    self.init(hour: hour)
    for sample in Self.samples(in: bytes, hour: hour) { append(sample) }
  }

  /// Adds a sample; its time may be before the previous one.
  public mutating func append(_ sample: Sample) {
    let distance = sample.time - lastTime
    let head =
      SampleVarint.zigzag(distance - lastDistance) << 3 | (sample.latency == nil ? 0 : 4)
      | UInt64(sample.state.rawValue)
    SampleVarint.append(head, to: &bytes)
    if let latency = sample.latency { SampleVarint.append(UInt64(latency), to: &bytes) }
    (lastTime, lastDistance) = (sample.time, distance)
  }

  /// The samples in the order in which they were appended.
  public var samples: [Sample] { Self.samples(in: bytes, hour: hour) }

  /// Returns the samples of stored bytes; what follows an invalid byte, or a time that no clock has, is left out.
  static func samples(in bytes: [UInt8], hour: Int64) -> [Sample] {
    var samples: [Sample] = []
    samples.reserveCapacity(bytes.count / 4)
    var reader = SampleVarintReader(bytes[...])
    var (time, distance) = (hour * hourLength, Int64(0))
    while let head = reader.next(), let state = Sample.State(rawValue: UInt8(head & 3)) {
      distance &+= SampleVarint.unzigzag(head >> 3)
      time &+= distance
      guard time.magnitude <= Sample.latestTime.magnitude else { break }
      var latency: UInt32?
      if head & 4 != 0 {
        guard let value = reader.next() else { break }
        latency = UInt32(clamping: value)
      }
      samples.append(Sample(time: time, latency: latency, state: state))
    }
    return samples
  }
}
