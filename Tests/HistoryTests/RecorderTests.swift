import Database
import Testing

@testable import History

@Suite struct SampleRecorderTests {
  private static let start: Int64 = 500_000 * 3_600_000

  private func sample(_ second: Int64, _ latency: UInt32? = 1_000) -> Sample {
    Sample(time: Self.start + second * 1_000, latency: latency, state: latency == nil ? .down : .up)
  }

  private func flush(_ recorder: SampleRecorder, _ fixture: HistoryFixture, at second: Int64) throws {
    while true {
      let flushed = try fixture.connection.transaction { () throws(DatabaseError) in
        try recorder.flush(fixture.connection, at: Self.start + second * 1_000)
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
      try killed.flush(fixture.connection, at: Self.start + 20_000)
    }
    killed.committed(first)
    for _ in 0..<transactions {
      let flushed = try fixture.connection.transaction { () throws(DatabaseError) in
        try killed.flush(fixture.connection, at: Self.start + 3_700_000)
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
}

@Suite struct RetentionTests {
  private func retain(_ fixture: HistoryFixture, at time: StoreTime) throws -> Bool {
    try fixture.connection.transaction { () throws(DatabaseError) in
      try Retention.apply(fixture.connection, RetentionPolicy(), now: time)
    }
  }

  @Test func nothingIsDeletedWithinTheLimits() {
    #expect(RetentionPolicy().steps(StoreContents(), at: 1_800_000_000) == [])
    var contents = StoreContents()
    contents.events = 1...1_000
    contents.meanEventBytes = 500
    contents.firstRecentEvent = 1
    contents.transitions = 1...10
    contents.firstRecentTransition = 1
    contents.firstSample = SampleKey.first(of: 500_000 - 47)
    contents.size = 1 << 20
    #expect(RetentionPolicy().steps(contents, at: 500_000 * 3_600) == [])
  }

  @Test func eventsAreLimitedByBytes() {
    var contents = StoreContents()
    contents.events = 1...1_000_000
    contents.meanEventBytes = 512
    contents.firstRecentEvent = 1
    let kept = Int64(64 << 20) / 512
    #expect(RetentionPolicy().steps(contents, at: 0) == [.events(before: 1_000_000 - kept + 1)])
    // A webhook keeps the events that it has not delivered, up to four times as many.
    for (undelivered, first) in [(1, 1_000_000 - 4 * kept + 1), (700_000, 700_000), (1_000_001, 1_000_000 - kept + 1)] {
      contents.firstUndelivered = Int64(undelivered)
      #expect(RetentionPolicy().steps(contents, at: 0) == [.events(before: first)])
    }
  }

  @Test func eventsThatAFleetDoesNotHaveStayAtAnyAge() {
    var contents = StoreContents()
    contents.events = 1...1_000_000
    contents.meanEventBytes = 512
    contents.firstRecentEvent = 999_000
    #expect(RetentionPolicy().steps(contents, at: 0) == [.events(before: 999_000)])
    let largest = 1_000_000 - Int64(256 << 20) / 512 + 1
    for (unpublished, first) in [(1, largest), (700_000, 700_000), (999_500, 999_000)] {
      contents.firstUnpublished = Int64(unpublished)
      #expect(RetentionPolicy().steps(contents, at: 0) == [.events(before: first)])
    }
  }

  @Test func aLargeDatabaseLosesSamplesFirst() {
    var contents = StoreContents()
    contents.size = 2 << 30
    contents.transitions = 5...50_000
    contents.firstRecentTransition = 5
    let now: Int64 = 500_000 * 3_600
    #expect(RetentionPolicy().steps(contents, at: now) == [.transitions(before: 5 + Int64(Limits.deletedRows))])
    contents.firstHour = SampleKey.key(499_990, 3)
    #expect(RetentionPolicy().steps(contents, at: now) == [.hours(before: SampleKey.first(of: 499_991))])
    contents.firstSample = SampleKey.key(499_999, 3)
    #expect(RetentionPolicy().steps(contents, at: now) == [.samples(before: SampleKey.first(of: 500_000))])
  }

  @Test func theLastTransitionOfASubjectStays() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: 1_800_000_000)
    try fixture.change("target:old", to: .targetUp, at: 10)
    for second in 0..<Int64(5_000) { try fixture.change("target:db", to: .targetUp, at: 20 + second) }
    let late = StoreTime(
      wall: HistoryFixture.s(1_800_000_000 + 401 * 86_400), uptime: HistoryFixture.s(401 * 86_400))
    var calls = 0
    while try retain(fixture, at: late) {
      calls += 1
      try #require(calls < 10)
    }
    #expect(calls >= 2, "in parts")
    let left = try fixture.connection.query("SELECT id FROM transition ORDER BY id") { $0.integer(0) }
    #expect(left == [1, 5_001])
  }

  @Test func oldRowsOfEveryTableAreDeleted() throws {
    let fixture = try HistoryFixture()
    let now = StoreTime(wall: 500_000 * 3_600_000_000, uptime: 1)
    for (table, period, age) in [
      ("sample", Int64(500_000), Int64(48)), ("hour", 500_000, 90 * 24), ("day", 500_000 / 24, 800),
    ] {
      for back in [0, age - 1, age + 1, age + 50] {
        try fixture.connection.run(
          "INSERT INTO \(table)(key, data) VALUES(?, x'00')", .integer(SampleKey.key(period - back, 1)))
      }
    }
    while try Retention.apply(fixture.connection, RetentionPolicy(), now: now) {}
    for table in ["sample", "hour", "day"] {
      #expect(try fixture.connection.query("SELECT count(*) FROM \(table)") { $0.integer(0) } == [2], "\(table)")
    }
  }
}
