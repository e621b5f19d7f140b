/// The samples of all targets in one minute, as one row of the table `sample_minute`.
///
/// They are there for recovery only: the samples of the present hour are in memory.
enum SampleStaging {
  /// A sample with its target's number in the table `subject`.
  struct Entry: Equatable {
    var subject: Int64
    var sample: Sample
  }

  /// Encodes entries of about a minute: some eight bytes each.
  static func encode(_ entries: [Entry], minute: Int64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(entries.count * 9)
    for entry in entries {
      let sample = entry.sample
      SampleVarint.append(UInt64(bitPattern: entry.subject), to: &bytes)
      let offset = SampleVarint.zigzag(sample.time - minute * minuteLength)
      SampleVarint.append(offset << 3 | (sample.latency == nil ? 0 : 4) | UInt64(sample.state.rawValue), to: &bytes)
      if let latency = sample.latency { SampleVarint.append(UInt64(latency), to: &bytes) }
    }
    return bytes
  }

  /// Decodes a row; what follows an invalid byte is left out, and so are targets and times that do not exist.
  static func decode(_ bytes: [UInt8], minute: Int64) -> [Entry] {
    var entries: [Entry] = []
    var reader = SampleVarintReader(bytes[...])
    while let subject = reader.next(), let head = reader.next(), let state = Sample.State(rawValue: UInt8(head & 3)) {
      var latency: UInt32?
      if head & 4 != 0 {
        guard let value = reader.next() else { break }
        latency = UInt32(clamping: value)
      }
      let time = minute &* minuteLength &+ SampleVarint.unzigzag(head >> 3)
      guard (1...UInt64(SampleKey.highestSubject)).contains(subject), (0...Sample.latestTime).contains(time) else {
        continue
      }
      let sample = Sample(time: time, latency: latency, state: state)
      entries.append(Entry(subject: Int64(subject), sample: sample))
    }
    return entries
  }

  /// The milliseconds of a minute.
  static let minuteLength: Int64 = 60_000
}
