import Database
import Testing

@testable import History

@Suite struct HistoryRetentionTests {
  /// Deletes all that the policy does not keep; returns the number of transactions.
  @discardableResult
  private func retain(
    _ fixture: HistoryFixture, _ policy: RetentionPolicy = RetentionPolicy(), at time: StoreTime,
    _ progress: inout RetentionProgress
  ) throws -> Int {
    for calls in 0..<100 {
      let hasMore = try fixture.connection.transaction { () throws(DatabaseError) in
        try HistoryRetention.apply(fixture.connection, policy, &progress, now: time)
      }
      if !hasMore { return calls }
    }
    Issue.record("retention does not end")
    return 100
  }

  private func transitions(_ fixture: HistoryFixture) throws -> [Int64] {
    try fixture.connection.query("SELECT id FROM transition ORDER BY id") { $0.integer(0) }
  }

  @Test func nothingIsDeletedWithinTheLimits() {
    #expect(RetentionPolicy().steps(RetentionContents(), at: 1_800_000_000_000_000) == [])
    var contents = RetentionContents()
    contents.events = 1...1_000
    contents.meanEventBytes = 500
    contents.firstRecentEvent = 1
    contents.transitions = 1...10
    contents.firstRecentTransition = 1
    let now: Int64 = 1_000 * 3_600_000_000
    contents.firstSample = SamplePeriod(number: 1, service: now - 48 * 3_600_000_000)
    contents.size = 1 << 20
    #expect(RetentionPolicy().steps(contents, at: now) == [])
    #expect(RetentionPolicy().steps(contents, at: now + 1) == [.samples(hour: 1)])
  }

  @Test func eventsAreLimitedByBytes() {
    var contents = RetentionContents()
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
    var contents = RetentionContents()
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
    var contents = RetentionContents()
    contents.size = 2 << 30
    contents.transitions = 5...50_000
    contents.firstRecentTransition = 5
    let now: Int64 = 3_600_000_000
    #expect(RetentionPolicy().steps(contents, at: now) == [.transitions(before: 50_000)])
    contents.firstHour = SamplePeriod(number: 499_990, service: 0)
    #expect(RetentionPolicy().steps(contents, at: now) == [.hours(hour: 499_990)])
    contents.firstSample = SamplePeriod(number: 499_999, service: 1)
    #expect(RetentionPolicy().steps(contents, at: now) == [.samples(hour: 499_999)])
  }

  @Test func theLastTransitionOfASubjectStays() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: 1_800_000_000)
    try fixture.change("target:old", to: .targetUp, at: 10)
    for second in 0..<Int64(5_000) { try fixture.change("target:db", to: .targetUp, at: 20 + second) }
    let late = StoreTime(
      wall: HistoryFixture.s(1_800_000_000 + 401 * 86_400), uptime: HistoryFixture.s(401 * 86_400))
    var progress = RetentionProgress()
    #expect(try retain(fixture, at: late, &progress) >= 2, "in parts")
    #expect(try transitions(fixture) == [1, 5_001])
    #expect(try retain(fixture, at: late, &progress) == 0, "what stays is not examined again")
    // It is after some time, because it may not be the last any more.
    let later = StoreTime(wall: late.wall + HistoryFixture.s(7_200), uptime: late.uptime + HistoryFixture.s(7_200))
    try fixture.begin(boot: "a", at: later.uptime / 1_000_000, shift: 1_800_000_000)
    try fixture.change("target:old", to: .targetDown, at: later.uptime / 1_000_000)
    try retain(fixture, at: later, &progress)
    #expect(try transitions(fixture) == [1, 5_001, 5_002], "the state until the last change")
    let end = StoreTime(wall: 2 * later.wall - 1_800_000_000_000_000, uptime: 2 * later.uptime)
    try fixture.live(until: end.uptime / 1_000_000)
    try retain(fixture, at: end, &progress)
    #expect(try transitions(fixture) == [5_001, 5_002])
  }

  @Test func theStateAtTheBeginningOfWhatIsKeptIsKnown() throws {
    let fixture = try HistoryFixture()
    let (base, day) = (Int64(1_800_000_000), Int64(86_400))
    try fixture.begin(boot: "a", at: 0, shift: base)
    try fixture.change("target:db", to: .targetDown, at: 2 * day)
    try fixture.change("target:db", to: .targetUp, at: 5 * day)
    try fixture.change("target:db", to: .targetDown, at: 45 * day)
    var policy = RetentionPolicy()
    policy.transitions = 30 * day
    let now = StoreTime(wall: HistoryFixture.s(base + 50 * day), uptime: HistoryFixture.s(50 * day))
    var progress = RetentionProgress()
    try retain(fixture, policy, at: now, &progress)
    #expect(try transitions(fixture) == [2, 3])
    let reader = fixture.reader(at: 50 * day)
    let target = try #require(try reader.reference(to: "target:db"))
    let window = (now.wall - HistoryFixture.s(30 * day))..<now.wall
    let uptime = try reader.uptimes(of: [target], in: window)[0]
    #expect(uptime[.up] == HistoryFixture.s(25 * day))
    #expect(uptime[.down] == HistoryFixture.s(5 * day))
  }

  @Test func theLastTransitionOfARemovedSubjectIsDeleted() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: 1_800_000_000)
    for index in 0..<Int64(5) {
      try fixture.change("interface:veth\(index)", to: .interfaceUsable, at: index)
      try fixture.change("interface:veth\(index)", to: .interfaceRemoved, at: index)
      try fixture.change("target:t\(index)", to: index == 0 ? .targetUp : .targetRemoved, at: index)
    }
    var progress = RetentionProgress()
    let late = StoreTime(
      wall: HistoryFixture.s(1_800_000_000 + 401 * 86_400), uptime: HistoryFixture.s(401 * 86_400))
    try retain(fixture, at: late, &progress)
    #expect(try transitions(fixture) == [3])
  }

  /// The oldest row belongs to a target that has never changed since.
  @Test func aDatabaseThatIsTooLargeLosesTransitionsBehindOnesThatStay() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: 1_800_000_000)
    let rows = Int64(10 * Limits.deletedRows)
    try fixture.connection.transaction { () throws(DatabaseError) in
      try fixture.insert("target:constant", .targetUp, at: 1)
      for second in 2...rows { try fixture.insert("target:db", .targetUp, at: second) }
    }
    try fixture.live(until: rows)
    var policy = RetentionPolicy()
    policy.maximumSize = 400_000
    let now = StoreTime(wall: HistoryFixture.s(1_800_000_000 + rows), uptime: HistoryFixture.s(rows))
    var progress = RetentionProgress()
    try retain(fixture, policy, at: now, &progress)
    let (count, first) = try #require(
      try fixture.connection.query("SELECT count(*), min(id) FROM transition") { ($0.integer(0), $0.integer(1)) }.first)
    #expect(count < rows / 2)
    #expect(count > 100)
    #expect(first == 1)
  }

  @Test func transitionsThatStayDoNotSuspendTheLimitOfSize() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: 1_800_000_000)
    try fixture.change("target:constant", to: .targetUp, at: 1)
    let now = StoreTime(
      wall: HistoryFixture.s(1_800_000_000 + 401 * 86_400), uptime: HistoryFixture.s(401 * 86_400))
    let hour = now.wall / 3_600_000_000
    for back in Int64(0)..<40 {
      try fixture.connection.run(
        "INSERT INTO sample(key, data) VALUES(?, zeroblob(40000))", .integer(SampleKey.key(hour - back, 1)))
    }
    var policy = RetentionPolicy()
    policy.maximumSize = 800_000
    var progress = RetentionProgress()
    try retain(fixture, policy, at: now, &progress)
    let samples = try fixture.connection.query("SELECT count(*) FROM sample") { $0.integer(0) }
    #expect(samples[0] < 20 && samples[0] > 10)
    #expect(try transitions(fixture) == [1])
  }

  @Test func oldRowsOfEveryTableAreDeleted() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: 0)
    let (hour, now) = (Int64(3_600_000_000), StoreTime(wall: 1, uptime: 30_000 * 3_600_000_000))
    for (kind, age) in [(SamplePeriod.Kind.sample, Int64(48)), (.hour, 90 * 24), (.day, 800 * 24)] {
      for back in [0, age - 1, age + 1, age + 50] {
        try fixture.connection.run(
          "INSERT INTO \(kind.table)(key, data) VALUES(?, x'00')", .integer(SampleKey.key(100_000 - back, 1)))
        try fixture.connection.run(
          "INSERT INTO period VALUES(?, ?, ?)", .integer(kind.rawValue), .integer(100_000 - back),
          .integer(now.uptime - back * hour))
      }
    }
    var progress = RetentionProgress()
    try retain(fixture, at: now, &progress)
    for kind in SamplePeriod.Kind.allCases {
      for table in [kind.table, "period WHERE kind = \(kind.rawValue)"] {
        #expect(try fixture.connection.query("SELECT count(*) FROM \(table)") { $0.integer(0) } == [2], "\(table)")
      }
    }
  }
}
