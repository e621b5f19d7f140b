import Database
import Testing

@testable import History

@Suite struct SampleRecorderTests {
  private static let start: Int64 = 500_000 * 3_600_000

  private static func time(_ milliseconds: Int64) -> StoreTime {
    StoreTime(wall: milliseconds * 1_000, uptime: (milliseconds - start) * 1_000)
  }

  private func sample(_ second: Int64, _ latency: UInt32? = 1_000) -> Sample {
    Sample(time: Self.start + second * 1_000, latency: latency, state: latency == nil ? .down : .up)
  }

  private func flush(_ recorder: SampleRecorder, _ fixture: HistoryFixture, at second: Int64) throws {
    while true {
      let flushed = try fixture.connection.transaction { () throws(DatabaseError) in
        try recorder.flush(fixture.connection, at: Self.time(Self.start + second * 1_000))
      }
      recorder.committed(flushed)
      if !flushed.hasMore { return }
    }
  }

  private func rollups(
    _ recorder: SampleRecorder, _ fixture: HistoryFixture, _ name: String, _ step: LatencyStep,
    _ range: Range<Int64> = start..<(start + 86_400_000)
  ) throws -> [LatencyRollup] {
    let reader = fixture.reader(at: 0)
    let reference = try reader.reference(to: name) ?? 0
    return try reader.latencies(of: (name, reference), in: range, step: step, recorder).map(\.rollup)
  }

  @Test(arguments: LatencyStep.allCases) func samplesAreCountedOnceAtEveryStage(step: LatencyStep) throws {
    let fixture = try HistoryFixture()
    let recorder = SampleRecorder()
    func count() throws -> UInt64 {
      try rollups(recorder, fixture, "target:db", step).reduce(0) { $0 + $1.count }
    }
    for second in stride(from: Int64(0), to: 3_600, by: 30) {
      recorder.record(sample(second), of: "target:db")
      if second == 90 { #expect(try count() == 4, "before the first row") }
      if second % 60 == 30 { try flush(recorder, fixture, at: second + 1) }
      if second == 300 { #expect(try count() == 11) }
    }
    #expect(try count() == 120)
    recorder.record(sample(3_605, nil), of: "target:db")
    #expect(try count() == 121)
    try flush(recorder, fixture, at: 3_610)
    #expect(try count() == 121, "one hour is in the tables, the other in memory")
    #expect(try fixture.connection.query("SELECT count(*) FROM sample") { $0.integer(0) } == [1])
    #expect(try fixture.connection.query("SELECT count(*) FROM sample_minute") { $0.integer(0) } == [1])
    let failed = try rollups(recorder, fixture, "target:db", step).reduce(0) { $0 + $1.failed }
    #expect(failed == 1)
  }

  @Test func aKilledProcessLosesOnlyWhatWasNotWritten() throws {
    let fixture = try HistoryFixture()
    let killed = SampleRecorder()
    for second in stride(from: Int64(0), to: 600, by: 30) {
      killed.record(sample(second), of: "target:db")
      if second % 60 == 30 { try flush(killed, fixture, at: second + 1) }
    }
    killed.record(sample(601), of: "target:db")
    let recorder = SampleRecorder()
    try recorder.recover(fixture.connection)
    #expect(try rollups(recorder, fixture, "target:db", .minute).reduce(0) { $0 + $1.count } == 20)
  }

  /// Killed after each transaction of an hour's end: no sample is there twice.
  @Test(arguments: 0...3) func anHourEndsOnce(transactions: Int) throws {
    let fixture = try HistoryFixture()
    let killed = SampleRecorder()
    let targets = 2 * Limits.closedTargets + 7
    for target in 0..<targets {
      killed.record(sample(10, UInt32(target)), of: "target:\(target)")
    }
    let first = try fixture.connection.transaction { () throws(DatabaseError) in
      try killed.flush(fixture.connection, at: Self.time(Self.start + 20_000))
    }
    killed.committed(first)
    for _ in 0..<transactions {
      let flushed = try fixture.connection.transaction { () throws(DatabaseError) in
        try killed.flush(fixture.connection, at: Self.time(Self.start + 3_700_000))
      }
      killed.committed(flushed)
    }
    let recorder = SampleRecorder()
    try recorder.recover(fixture.connection)
    // Twice: nothing must be left for the second time.
    for _ in 0..<2 { try flush(recorder, fixture, at: 3_700) }
    for target in [0, 1, Limits.closedTargets - 1, Limits.closedTargets, targets - 1] {
      for step in LatencyStep.allCases {
        let found = try rollups(recorder, fixture, "target:\(target)", step)
        #expect(found.map(\.count) == [1], "\(target) \(step)")
      }
    }
    #expect(try fixture.connection.query("SELECT count(*) FROM hour") { $0.integer(0) } == [Int64(targets)])
  }

  /// The first row after an hour has samples of that hour; a start must not add them to the roll-ups again.
  @Test(arguments: [1, 2, 3]) func samplesOfTheHourBeforeAreCountedOnceAfterRestarts(restarts: Int) throws {
    let fixture = try HistoryFixture()
    var recorder = SampleRecorder()
    for second in stride(from: Int64(0), to: 3_700, by: 20) {
      recorder.record(sample(second), of: "target:db")
      if second % 60 == 20 { try flush(recorder, fixture, at: second + 1) }
    }
    try flush(recorder, fixture, at: 3_761)
    for restart in 0..<restarts {
      recorder = SampleRecorder()
      try recorder.recover(fixture.connection)
      try flush(recorder, fixture, at: 3_800 + Int64(restart) * 60)
    }
    for step in LatencyStep.allCases {
      let found = try rollups(recorder, fixture, "target:db", step).reduce(0) { $0 + $1.count }
      #expect(found == 185, "\(step)")
    }
    try flush(recorder, fixture, at: 7_300)
    #expect(try rollups(recorder, fixture, "target:db", .hour).map(\.count) == [180, 5])
    #expect(try rollups(recorder, fixture, "target:db", .day).map(\.count) == [185])
    try flush(recorder, fixture, at: 7_400)
    #expect(try fixture.connection.query("SELECT count(*) FROM sample_minute") { $0.integer(0) } == [0])
  }

  @Test func anHourThatComesAgainIsAddedToTheFirst() throws {
    let fixture = try HistoryFixture()
    let recorder = SampleRecorder()
    for (second, now) in [(Int64(5), Int64(3_700)), (3_700, 3_710), (10, 20), (3_720, 7_300)] {
      recorder.record(sample(second), of: "target:db")
      try flush(recorder, fixture, at: now)
      try flush(recorder, fixture, at: now)
    }
    try flush(recorder, fixture, at: 90_000)
    #expect(try rollups(recorder, fixture, "target:db", .hour).map(\.count) == [2, 2])
    #expect(try rollups(recorder, fixture, "target:db", .day).map(\.count) == [4])
  }

  @Test func waitingSamplesAreBounded() {
    let recorder = SampleRecorder()
    for _ in 0...Limits.pendingSamples { recorder.record(sample(0), of: "target:db") }
    #expect(recorder.dropped == 1)
  }

  /// More than the memory holds in one minute.
  @Test func manySamplesAreWrittenBeforeTheMinuteIsOver() async throws {
    let directory = try StoreDirectory()
    let store = try directory.open()
    defer { withExtendedLifetime(directory) { _ = store.close(within: .seconds(10)) } }
    let keeper = HistoryKeeper(store)
    for _ in 0..<Limits.pendingSamples / Limits.writtenSamples + 1 {
      for _ in 0..<Limits.writtenSamples { keeper.record(sample(0), of: "target:db") }
      try await store.commit()
    }
    #expect(keeper.recorder.dropped == 0)
  }

  /// The numbers of the targets are others there, although some are equal.
  @Test func samplesInAnotherDatabaseBelongToTheirTargets() throws {
    let names = ["target:a", "target:b", "target:c"]
    let recorder = SampleRecorder()
    let fixtures = try [HistoryFixture(), HistoryFixture()]
    for (fixture, order) in zip(fixtures, [names, [names[0], names[2], names[1]]]) {
      try fixture.begin(boot: "a", at: 0, shift: 0)
      try fixture.connection.run("UPDATE run SET token = abs(random())")
      for name in order { _ = try HistorySubject.reference(to: name, in: fixture.connection) }
    }
    for (index, fixture) in fixtures.enumerated() {
      for (latency, name) in names.enumerated() {
        recorder.record(sample(10 + Int64(index), UInt32(latency + 1)), of: name)
      }
      try flush(recorder, fixture, at: 20)
    }
    for (latency, name) in names.enumerated() {
      let found = try rollups(recorder, fixtures[1], name, .minute)
      #expect(found.map(\.count) == [1], "the open hour of the other one is lost")
      #expect(found.first?.maximum == UInt32(latency + 1))
    }
  }
}
