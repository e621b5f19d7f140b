/// The samples that are not in the table `sample` yet: those of the present hour, and of earlier ones until they are
/// written.
///
/// About five bytes each: 5.5 MB for 10,000 targets that are checked every 30 seconds.
struct OpenSampleHours: Sendable {
  struct Key: Sendable {
    var hour: Int64
    var subject: Int64
  }

  private var chunks: [Int64: [Int64: SampleChunk]] = [:]

  mutating func append(_ sample: Sample, of subject: Int64) {
    let hour = Self.hour(of: sample.time)
    chunks[hour, default: [:]][subject, default: SampleChunk(hour: hour)].append(sample)
  }

  /// The first hour that is not the present one; nil when there is none.
  func closedHour(at time: Int64) -> Int64? {
    let present = Self.hour(of: time)
    return chunks.keys.filter { $0 != present }.min()
  }

  /// The targets of an hour that follow a number, ascending, at most `limit`.
  func next(in hour: Int64, after subject: Int64, limit: Int) -> [(subject: Int64, chunk: SampleChunk)] {
    let open = chunks[hour] ?? [:]
    return open.keys.filter { $0 > subject }.sorted().prefix(limit).compactMap { subject in
      open[subject].map { (subject, $0) }
    }
  }

  mutating func remove(_ keys: [Key]) {
    for key in keys {
      chunks[key.hour]?[key.subject] = nil
      if chunks[key.hour]?.isEmpty == true { chunks[key.hour] = nil }
    }
  }

  var subjects: Set<Int64> { chunks.values.reduce(into: []) { $0.formUnion($1.keys) } }

  func samples(of subject: Int64) -> [Sample] {
    chunks.sorted { $0.key < $1.key }.flatMap { $0.value[subject]?.samples ?? [] }
  }

  /// The hour of a time in milliseconds, counted from 1970.
  static func hour(of time: Int64) -> Int64 {
    let hour = time / SampleChunk.hourLength
    return time % SampleChunk.hourLength < 0 ? hour - 1 : hour
  }
}
