import Database
import ReachabilityModel
import Testing

@testable import History

@Suite struct RunHistoryWriterTests {
  private func entries(_ fixture: HistoryFixture) throws -> [HistoryEntry] {
    var filter = HistoryFilter()
    filter.isDescending = false
    return try fixture.reader(at: 1_000).page(filter).entries
  }

  @Test func startsAndStopsAreEntries() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 10, shift: 1_000)
    try RunHistoryWriter.begin(1, in: fixture.connection)
    try fixture.change("target:db", to: .targetUp, at: 20)
    try fixture.live(until: 30)
    try fixture.connection.run("UPDATE run SET clean = 1")
    try fixture.begin(boot: "a", at: 40, shift: 1_000)
    try RunHistoryWriter.begin(2, in: fixture.connection)
    try fixture.live(until: 55)
    try fixture.begin(boot: "b", at: 5, shift: 2_000)
    try RunHistoryWriter.begin(3, in: fixture.connection)
    let found = try entries(fixture).map { entry in
      "\(entry.time / 1_000_000) \(entry.subject) \(entry.transition.new.name) \(entry.transition.flags.rawValue)"
    }
    #expect(
      found == [
        "1010 service running 0", "1020 target:db up 0", "1030 service stopped 0", "1040 service running 0",
        "1055 service stopped 8", "2005 service running 0",
      ])
    var filter = HistoryFilter()
    filter.types = [.service]
    filter.states = [.serviceStopped]
    #expect(try fixture.reader(at: 1_000).page(filter).entries.map(\.sequence) == [0, 0])
  }

  @Test func aStoreThatWasOpenedTwiceHasBothStarts() async throws {
    let directory = try StoreDirectory()
    for _ in 0..<2 {
      let store = try directory.open()
      #expect(store.close(within: .seconds(10)))
    }
    let store = try directory.open()
    let states = try await store.rows { (db) throws(DatabaseError) in
      try HistoryReader(db).page(HistoryFilter()).entries.map(\.transition.new)
    }
    #expect(states == [.serviceRunning, .serviceStopped, .serviceRunning, .serviceStopped, .serviceRunning])
    #expect(store.close(within: .seconds(10)))
  }
}
