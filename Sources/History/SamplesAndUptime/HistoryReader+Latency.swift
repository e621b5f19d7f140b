public import Database

extension HistoryReader {
  /// Reads the latencies of one target.
  ///
  /// - Parameters:
  ///   - target: the name of its subject, `target:db`, and its number.
  ///   - range: milliseconds since 1970; widened to whole steps.
  ///   - step: the length of the steps.
  ///   - recorder: has the samples that are not in the tables yet.
  /// - Returns: the steps with samples by their starts in milliseconds, ascending.
  /// - Throws: SQLite's error.
  public func latencies(
    of target: (name: String, reference: Int64), in range: Range<Int64>, step: LatencyStep, _ recorder: SampleRecorder
  ) throws(DatabaseError) -> [(start: Int64, rollup: LatencyRollup)] {
    // Memory first: what is written meanwhile is in both, and recognized by its hour.
    let open = recorder.samples(of: target.name, target.reference)
    let first = range.lowerBound / step.length
    let last = (range.upperBound - 1) / step.length
    guard first <= last else { return [] }
    var found: [Int64: LatencyRollup] = [:]
    switch step {
    case .minute:
      let samples = try samples(target.reference, hours: first / 60...last / 60, open)
      for sample in samples { found[sample.time / step.length, default: LatencyRollup()].add(sample) }
    case .hour: found = try hours(target.reference, first...last, open)
    case .day:
      for (key, rollup) in try rollups("day", target.reference, first...last) { found[key] = rollup }
      // The roll-ups of days that are not over, or not written, lack the samples in memory.
      for day in Set(open.map { $0.time / step.length }) where (first...last).contains(day) {
        var whole = LatencyRollup()
        for rollup in try hours(target.reference, day * 24...day * 24 + 23, open).values { whole.merge(rollup) }
        found[day] = whole
      }
    }
    return found.filter { (first...last).contains($0.key) }.sorted { $0.key < $1.key }
      .map { ($0.key * step.length, $0.value) }
  }

  private func hours(_ target: Int64, _ range: ClosedRange<Int64>, _ open: [Sample]) throws(DatabaseError)
    -> [Int64: LatencyRollup]
  {
    var found = try rollups("hour", target, range)
    for hour in Set(open.map { OpenSampleHours.hour(of: $0.time) }) where range.contains(hour) {
      found[hour] = LatencyRollup(try samples(target, hours: hour...hour, open))
    }
    return found
  }

  /// The samples of some hours, stored and open ones, each once.
  private func samples(_ target: Int64, hours: ClosedRange<Int64>, _ open: [Sample]) throws(DatabaseError) -> [Sample] {
    var samples = open.filter { hours.contains(OpenSampleHours.hour(of: $0.time)) }
    let seen = Set(samples.map(\.time))
    for hour in hours.clamped(to: hours.upperBound - Limits.sampleHours...hours.upperBound) {
      let chunk = try connection.query(
        "SELECT data FROM sample WHERE key = ?", .integer(SampleKey.key(hour, target))
      ) { $0.blob(0) }
      for sample in SampleChunk.samples(in: chunk.first ?? [], hour: hour) where !seen.contains(sample.time) {
        samples.append(sample)
      }
    }
    return samples
  }

  /// The roll-ups of some hours or days by their number.
  private func rollups(_ table: String, _ target: Int64, _ range: ClosedRange<Int64>) throws(DatabaseError)
    -> [Int64: LatencyRollup]
  {
    var found: [Int64: LatencyRollup] = [:]
    for period in range.clamped(to: range.upperBound - Limits.latencySteps...range.upperBound) {
      let data = try connection.query(
        "SELECT data FROM \(table) WHERE key = ?", .integer(SampleKey.key(period, target))
      ) { $0.blob(0) }
      found[period] = data.first.flatMap(LatencyRollup.init(bytes:))
    }
    return found
  }
}
