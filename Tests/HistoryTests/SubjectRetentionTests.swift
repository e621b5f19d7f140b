import Database
import TestSupport
import ReachabilityModel
import Testing

@testable import History

/// Rows of the table `subject` are deleted with what refers to them.
@Suite struct SubjectRetentionTests {
  private let fixture: HistoryFixture
  private let base: Int64 = 1_800_000_000
  private let day: Int64 = 86_400

  init() throws {
    fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: base)
  }

  private func time(days: Int64) -> StoreTime {
    StoreTime(wall: HistoryFixture.s(base + days * day), uptime: HistoryFixture.s(days * day))
  }

  /// Retention as it runs once an hour from a day on, for some hours.
  private func retain(days: Int64, _ policy: RetentionPolicy = RetentionPolicy()) throws {
    var progress = RetentionProgress()
    for hour in Int64(0)..<4 {
      var now = time(days: days)
      now.uptime += hour * HistoryFixture.s(3_601)
      now.wall += hour * HistoryFixture.s(3_601)
      for call in 0...100 {
        let hasMore = try fixture.connection.transaction { () throws(DatabaseError) in
          try HistoryRetention.apply(fixture.connection, policy, &progress, now: now)
        }
        guard hasMore else { break }
        #expect(call < 100, "retention does not end")
      }
    }
  }

  private var subjects: Set<String> {
    get throws { Set(try fixture.connection.query("SELECT name FROM subject") { $0.text(0) ?? "" }) }
  }

  @Test func removedInterfacesAreDeletedWithTheirLastTransition() throws {
    for index in Int64(0)..<3_000 {
      try fixture.insert("interface:veth\(index)", .interfaceUsable, at: index)
      try fixture.insert("interface:veth\(index)", .interfaceRemoved, at: index)
    }
    try fixture.change("interface:eth0", to: .interfaceUsable, at: 3_001)
    try fixture.change("target:db", to: .targetUp, at: 3_002)
    try retain(days: 10)
    #expect(try subjects.count == 3_002)
    try retain(days: 401)
    #expect(try subjects == ["interface:eth0", "target:db"])
  }

  @Test func subjectsWithAnyReferenceStay() throws {
    let connection = fixture.connection
    func add(_ name: String) throws -> Int64 { try HistorySubject.reference(to: name, in: connection) }
    let sample = try add("target:sample")
    try connection.run(
      "INSERT INTO sample(key, data) VALUES(?, x'00')", .integer(SampleKey.key(1_000, sample)))
    try SamplePeriod.note(hour: 1_000, at: HistoryFixture.s(401 * day), in: connection)
    let hour = try add("target:hour")
    try connection.run("INSERT INTO hour(key, data) VALUES(?, x'00')", .integer(SampleKey.key(1_000, hour)))
    let roll = try add("target:day")
    try connection.run("INSERT INTO day(key, data) VALUES(?, x'00')", .integer(SampleKey.key(41, roll)))
    let target = try add("target:target")
    try connection.run("INSERT INTO target VALUES(?, '{}', 'runtime', 1, x'', NULL)", .integer(target))
    _ = try add("interface:state")
    try connection.run("UPDATE subject SET state = x'01' WHERE name = 'interface:state'")
    // Of 2,001 others none is examined forever, and they do not prevent that later ones are.
    for index in 0..<2_001 { _ = try add("interface:unused\(index)") }
    _ = try add("target:unused")
    try retain(days: 401)
    #expect(
      try subjects == ["target:sample", "target:hour", "target:day", "target:target", "interface:state"])
  }

  /// Events are read with the names of their subjects: one without its subject would be missing.
  @Test func subjectsOfStoredEventsStayThoughTransitionsAreKeptForLess() throws {
    let connection = fixture.connection
    let name = "interface:veth0"
    var group = PendingRecords.Group()
    group.records = [(UInt64(1), StateCode.interfaceUsable), (2, .interfaceRemoved)].map { number, state in
      var record = event(number, name)
      record.uptime = HistoryFixture.s(10)
      record.transition = TransitionRecord(type: .interface, old: .none, new: state)
      return PendingRecords.Waiting(record: record, since: 0, clocks: nil)
    }
    try connection.run("INSERT INTO meta VALUES('epoch', '6f1c2a90')")
    _ = try GroupCommitWriter(connection, epoch: "6f1c2a90", run: 1).commit(group)
    var policy = RetentionPolicy()
    policy.transitions = day
    try retain(days: 3, policy)
    #expect(try StoredEvent.read(after: 0, limit: 1 << 20, in: connection)?.map(\.sequence) == [1, 2])
    try connection.run("INSERT INTO event VALUES(3, 0, 0, ?, x'00')", .integer(1))
    try fixture.change("target:db", to: .targetUp, at: 20)
    try connection.run("DELETE FROM event WHERE seq < 3")
    try connection.run("UPDATE event SET subject = (SELECT ref FROM subject WHERE name = 'target:db')")
    try retain(days: 3, policy)
    #expect(try subjects == ["target:db"])
  }

  @Test func aTargetAfterTheHighestNumberGetsAFreeOne() throws {
    let connection = fixture.connection
    _ = try HistorySubject.reference(to: "target:first", in: connection)
    try connection.run("UPDATE sqlite_sequence SET seq = ? WHERE name = 'subject'", .integer(SampleKey.highestSubject))
    var numbers: Set<Int64> = []
    for index in 0..<500 { numbers.insert(try HistorySubject.reference(to: "target:t\(index)", in: connection)) }
    #expect(numbers.count == 500)
    #expect(numbers.allSatisfy { (2...SampleKey.highestSubject).contains($0) }, "\(numbers.max() ?? 0)")
    // Interfaces have no samples.
    #expect(try HistorySubject.reference(to: "interface:veth0", in: connection) > 0)
    #expect(try HistorySubject.reference(to: "target:t7", in: connection) <= SampleKey.highestSubject)
  }

  @Test func samplesOfATargetWithAHigherNumberAreNotThoseOfAnother() throws {
    let connection = fixture.connection
    try connection.run(
      "INSERT INTO subject(ref, name) VALUES(1, 'target:one'), (?, 'target:high')",
      .integer(SampleKey.highestSubject + 2))
    let recorder = SampleRecorder()
    let start: Int64 = 500_000 * 3_600_000
    recorder.record(Sample(time: start, latency: 5, state: .up), of: "target:high")
    for hour in Int64(0)..<3 {
      let now = StoreTime(wall: (start + hour * 3_600_000) * 1_000, uptime: hour * 3_600_000_000)
      recorder.committed(try recorder.flush(connection, at: now))
    }
    let keys = try connection.query("SELECT key FROM sample") { $0.integer(0) }
    #expect(!keys.contains { SampleKey.subject(of: $0) == 1 })
    #expect(keys.allSatisfy { SampleKey.period(of: $0) == 500_000 })
  }
}
