import Database
import TestSupport
import ReachabilityModel
import Testing

@testable import History

@Suite struct HistoryReaderTests {
  private func s(_ seconds: Int64) -> Int64 { HistoryFixture.s(seconds) }

  /// 30 changes of three targets in two boots, at times 1,000 … and 5,000 ….
  private func filled() throws -> HistoryFixture {
    let fixture = try HistoryFixture()
    for (boot, shift) in [("a", Int64(1_000)), ("b", 5_000)] {
      try fixture.begin(boot: boot, at: 0, shift: shift)
      for index in 0..<15 {
        try fixture.change(
          "target:\(["a", "b", "c"][index % 3])", to: index.isMultiple(of: 2) ? .targetUp : .targetDown,
          at: Int64(index) * 10)
      }
    }
    return fixture
  }

  @Test(arguments: [true, false], [[], ["target:b"], ["target:a", "target:c", "none"]])
  func pagesCoverTheHistoryOnce(isDescending: Bool, subjects: [String]) throws {
    let reader = try filled().reader(at: 200)
    var filter = HistoryFilter()
    filter.subjects = subjects
    filter.isDescending = isDescending
    filter.limit = 1_000
    let whole = try reader.page(filter)
    #expect(whole.next == nil)
    let counts = [0: 30, 1: 10, 3: 20]
    #expect(whole.entries.count == counts[subjects.count])
    let ids = whole.entries.map(\.id)
    #expect(isDescending ? ids == ids.sorted(by: >) : ids == ids.sorted())
    for limit in 1...7 {
      filter.limit = limit
      filter.cursor = nil
      var entries: [HistoryEntry] = []
      repeat {
        let page = try reader.page(filter)
        #expect(page.entries.count <= limit)
        entries += page.entries
        filter.cursor = page.next
      } while filter.cursor != nil && entries.count <= 30
      #expect(entries == whole.entries, "in pages of \(limit)")
    }
  }

  @Test(arguments: [("id", "transition"), ("seq", "event")])
  func boundsAreReadWithoutAScan(column: String, table: String) throws {
    let plan = try filled().connection.query("EXPLAIN QUERY PLAN \(HistoryReader.bounds(of: column, in: table))") {
      $0.text(3) ?? ""
    }
    #expect(plan.contains { $0.hasPrefix("SEARCH \(table)") }, "\(plan)")
    #expect(!plan.contains { $0.hasPrefix("SCAN \(table)") }, "\(plan)")
  }

  @Test func uptimeIsReadFromTheIndex() throws {
    let plan = try filled().connection.query(
      "EXPLAIN QUERY PLAN \(HistoryReader.changes(where: "subject = 1 AND id >= 1 AND id < 9"))"
    ) { $0.text(3) ?? "" }
    #expect(plan.count == 1)
    #expect(plan.first?.contains("USING COVERING INDEX transition_subject") == true, "\(plan)")
  }

  @Test func timesSelectByTheMappedClock() throws {
    let reader = try filled().reader(at: 200)
    var filter = HistoryFilter()
    filter.isDescending = false
    filter.since = s(1_050)
    filter.until = s(5_030)
    #expect(
      try reader.page(filter).entries.map { $0.time / 1_000_000 } == [
        1_050, 1_060, 1_070, 1_080, 1_090, 1_100,
        1_110, 1_120, 1_130, 1_140, 5_000, 5_010, 5_020,
      ])
    filter.since = s(9_000)
    filter.until = .max
    #expect(try reader.page(filter).entries.isEmpty)
    filter.since = 0
    filter.until = s(1_000)
    #expect(try reader.page(filter).entries.isEmpty)
  }

  @Test func filtersByTypeAndState() throws {
    let reader = try filled().reader(at: 200)
    var filter = HistoryFilter()
    filter.states = [.targetDown]
    #expect(try reader.page(filter).entries.count == 14)
    filter.types = [.interface]
    #expect(try reader.page(filter).entries.isEmpty)
    filter.types = [.target]
    filter.subjects = ["target:a"]
    #expect(try reader.page(filter).entries.allSatisfy { $0.subject == "target:a" && $0.transition.new == .targetDown })
  }

  /// The entries that a filter selects are older than all rows that one page examines.
  @Test(arguments: [true, false], [["target:busy"], ["target:busy", "target:quiet"]])
  func filteredPagesReachTheEndOfALongHistory(isDescending: Bool, subjects: [String]) throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: 1_000)
    let rows = Int64(2 * Limits.scannedRows)
    try fixture.connection.transaction { () throws(DatabaseError) in
      for second in 0..<rows {
        let isSelected = second == 3 || second == rows - 3
        try fixture.insert("target:busy", isSelected ? .targetDown : .targetUp, at: second)
        if second % 1_000 == 500 { try fixture.insert("target:quiet", .targetDown, at: second) }
      }
    }
    try fixture.live(until: rows)
    let reader = fixture.reader(at: rows)
    var filter = HistoryFilter()
    filter.subjects = subjects
    filter.states = [.targetDown]
    filter.isDescending = isDescending
    var found: [HistoryEntry] = []
    var pages = 0
    repeat {
      let page = try reader.page(filter)
      found += page.entries
      filter.cursor = page.next
      pages += 1
    } while filter.cursor != nil && pages < 10
    #expect(found.count == (subjects.count == 1 ? 2 : 2 + Int(rows) / 1_000))
    let ids = found.map(\.id)
    #expect(isDescending ? ids == ids.sorted(by: >) : ids == ids.sorted())
    #expect(pages < 10)
  }

  /// A client may send any cursor.
  @Test(arguments: [true, false], [1, 31, Int64.max])
  func everyCursorIsAccepted(isDescending: Bool, cursor: Int64) throws {
    let reader = try filled().reader(at: 200)
    var filter = HistoryFilter()
    filter.isDescending = isDescending
    filter.cursor = cursor
    let count = isDescending ? min(30, cursor - 1) : max(0, 30 - cursor)
    #expect(try reader.page(filter).entries.count == Int(count))
  }

  @Test func aRepeatedSubjectSelectsItsEntriesOnce() throws {
    let reader = try filled().reader(at: 200)
    var filter = HistoryFilter()
    filter.subjects = ["target:b", "target:b"]
    #expect(try reader.page(filter).entries.count == 10)
  }

  @Test func anEmptyHistoryHasNoEntries() throws {
    let fixture = try HistoryFixture()
    #expect(try fixture.reader(at: 10).page(HistoryFilter()) == HistoryPage())
    #expect(try fixture.reader(at: 10).reference(to: "target:a") == nil)
    #expect(try fixture.reader(at: 10).firstEvent(at: 0) == nil)
    #expect(try fixture.reader(at: 10).uptimes(of: [], in: 0..<10).isEmpty)
  }

  // MARK: - Uptime

  @Test func uptimeSpansRestarts() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: 1_000)
    try fixture.change("target:db", to: .targetUp, at: 10)
    try fixture.change("target:db", to: .targetDown, at: 60)
    try fixture.live(until: 80)
    try fixture.begin(boot: "a", at: 100, shift: 1_000)
    try fixture.change("target:db", to: .targetUp, at: 130)
    let reader = fixture.reader(at: 200)
    let target = try #require(try reader.reference(to: "target:db"))
    let whole = try reader.uptime(of: target, in: s(1_000)..<s(1_200), step: s(200))[0].summary
    #expect(whole[.up] == s(50 + 70))
    #expect(whole[.down] == s(20 + 30))
    #expect(whole[.unmonitored] == s(10 + 20))
    #expect(whole.outages == 1)
    #expect(whole.meanTimeToRepair == s(50))
    #expect(try reader.uptimes(of: [target], in: s(1_000)..<s(1_200)) == [whole])
    // The outage began before this window; its repair time is that of all of it.
    let late = try reader.uptime(of: target, in: s(1_110)..<s(1_200), step: s(90))[0].summary
    #expect(late.outages == 0)
    #expect(late.meanTimeToRepair == s(50))
    #expect(late[.down] == s(20))
    #expect(try reader.uptimes(of: [target], in: s(1_110)..<s(1_200)) == [late])
  }

  /// As many as a query does not read without need.
  @Test func repairTimeCountsWhatWasBeforeTheWindowOverManyRestarts() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: 1_000)
    try fixture.change("target:db", to: .targetUp, at: 10)
    try fixture.change("target:other", to: .targetUp, at: 10)
    try fixture.change("target:db", to: .targetDown, at: 50)
    try fixture.live(until: 100)
    for run in Int64(1)...150 {
      try fixture.begin(boot: run < 80 ? "a" : "b", at: 100 * run, shift: 1_000)
      try fixture.live(until: 100 * run + 99)
    }
    try fixture.change("target:db", to: .targetUp, at: 15_090)
    let reader = fixture.reader(at: 15_099)
    let target = try #require(try reader.reference(to: "target:db"))
    let other = try #require(try reader.reference(to: "target:other"))
    // Each run but the first and the last has 99 seconds of it.
    let down = 50 + 149 * 99 + 90
    for begin in [1_020, 1_060, 9_050, 16_050, 16_089] as [Int64] {
      let window = s(begin)..<s(16_099)
      let each = try reader.uptime(of: target, in: window, step: s(16_099 - begin))[0].summary
      #expect(each.endedOutages == 1)
      #expect(each.meanTimeToRepair == s(Int64(down)), "window from \(begin)")
      #expect(try reader.uptimes(of: [other, target], in: window)[1] == each)
    }
  }

  @Test func stepsAddUpToTheWindow() throws {
    let fixture = try filled()
    let reader = fixture.reader(at: 200)
    let target = try #require(try reader.reference(to: "target:b"))
    let whole = try reader.uptime(of: target, in: s(900)..<s(5_200), step: s(10_000))
    #expect(whole.count == 1)
    let steps = try reader.uptime(of: target, in: s(900)..<s(5_200), step: s(7))
    #expect(steps.count == (4_300 + 6) / 7)
    #expect(steps.map(\.start) == (0..<steps.count).map { s(900 + Int64($0) * 7) })
    #expect(steps.reduce(into: UptimeSummary()) { $0 += $1.summary } == whole[0].summary)
  }

  @Test(arguments: [Int64(-86_400), 86_400]) func aStepOfTheClockChangesNothing(step: Int64) throws {
    let fixture = try HistoryFixture()
    let base: Int64 = 1_800_000_000
    try fixture.begin(boot: "a", at: 0, shift: base)
    try fixture.change("target:db", to: .targetUp, at: 0)
    try fixture.change("target:db", to: .targetDown, at: 100)
    fixture.setClock(shift: base + step)
    try fixture.change("target:db", to: .targetUp, at: 160)
    let reader = fixture.reader(at: 1_000)
    let now = s(1_000 + base + step)
    let target = try #require(try reader.reference(to: "target:db"))
    let uptime = try reader.uptime(of: target, in: (now - s(1_000))..<now, step: s(1_000))[0].summary
    #expect(uptime[.up] == s(940))
    #expect(uptime[.down] == s(60))
    var filter = HistoryFilter()
    filter.since = now - s(900)
    #expect(try reader.page(filter).entries.map(\.transition.new) == [.targetUp, .targetDown])
  }

  /// As on a machine without a clock of its own, where the service starts before the time is known.
  @Test func anEarlierRunOfTheBootIsPlacedByTheLastOne() throws {
    let fixture = try HistoryFixture()
    let base: Int64 = 1_800_000_000
    try fixture.begin(boot: "a", at: 0, shift: 0)
    try fixture.change("target:db", to: .targetUp, at: 10)
    try fixture.live(until: 100)
    try fixture.begin(boot: "a", at: 110, shift: base)
    let reader = fixture.reader(at: 200)
    let target = try #require(try reader.reference(to: "target:db"))
    let window = s(base + 50)..<s(base + 200)
    let uptime = try reader.uptime(of: target, in: window, step: s(150))[0].summary
    #expect(uptime[.up] == s(140))
    #expect(uptime[.unmonitored] == s(10))
    #expect(try reader.uptimes(of: [target], in: window) == [uptime])
    var filter = HistoryFilter()
    filter.since = s(base)
    #expect(try reader.page(filter).entries.count == 1)
  }

  @Test func manyTargetsAreTheSameAsEach() throws {
    var random = SeededGenerator(seed: 7)
    let fixture = try HistoryFixture()
    let names = (0..<300).map { "target:t\($0)" }
    let states: [StateCode] = [
      .targetUp, .targetDown, .targetUnreachable, .targetPaused, .targetUnknown, .targetRemoved,
    ]
    var time: Int64 = 0
    for run in 0..<5 {
      try fixture.begin(boot: run < 3 ? "a" : "b", at: run == 3 ? 10 : time, shift: 100_000 * Int64(run < 3 ? 1 : 2))
      if run == 3 { time = 10 }
      for _ in 0..<600 {
        time += Int64.random(in: 0...3, using: &random)
        try fixture.change(
          try #require(names.randomElement(using: &random)), to: states.randomElement(using: &random) ?? .targetUp,
          at: time)
      }
      time += Int64.random(in: 0...50, using: &random)
      try fixture.live(until: time)
      time += Int64.random(in: 0...50, using: &random)
    }
    let reader = fixture.reader(at: time + 100)
    let window = s(101_000)..<s(202_000)
    let targets = try names.compactMap { try reader.reference(to: $0) }
    let bulk = try reader.uptimes(of: targets, in: window)
    let few = try reader.uptimes(of: Array(targets.prefix(20)), in: window)
    for (index, target) in targets.enumerated() {
      let one = try reader.uptime(of: target, in: window, step: s(200_000)).reduce(into: UptimeSummary()) {
        $0 += $1.summary
      }
      #expect(bulk[index] == one)
      #expect(one.window == s(101_000))
      if index < 20 { #expect(few[index] == one) }
    }
  }
}
