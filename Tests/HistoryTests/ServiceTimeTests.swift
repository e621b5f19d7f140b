import Database
import TestSupport
import Testing

@testable import History

/// Steps of the wall clock between and within runs, over a real database.
@Suite struct ServiceTimeTests {
  private let base: Int64 = 1_800_000_000
  private let day: Int64 = 86_400

  /// Deletes all that the default policy does not keep.
  private func retain(_ fixture: HistoryFixture, at uptime: Int64) throws {
    var progress = RetentionProgress()
    for _ in 0..<100 {
      let hasMore = try fixture.connection.transaction { () throws(DatabaseError) in
        try HistoryRetention.apply(fixture.connection, RetentionPolicy(), &progress, now: fixture.time(uptime))
      }
      if !hasMore { return }
    }
    Issue.record("retention does not end")
  }

  private func transitions(_ fixture: HistoryFixture) throws -> Int {
    try fixture.connection.query("SELECT id FROM transition") { $0.integer(0) }.count
  }

  private func firstEvent(_ fixture: HistoryFixture, since seconds: Int64, at uptime: Int64) throws -> UInt64? {
    let now = fixture.time(uptime)
    return try fixture.reader(at: uptime).firstEvent(at: now.wall - HistoryFixture.s(seconds))
  }

  static let steps: [Int64] = [-1_577_836_800, -3 * 365 * 86_400, -40 * 86_400, -3_600, 3_600, 450 * 86_400]

  @Test(arguments: steps) func aStepDeletesNothing(step: Int64) throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 100, shift: base)
    try fixture.publish(1...10, at: 200)
    fixture.setClock(shift: base + step)
    try retain(fixture, at: 210)
    try fixture.publish(11...20, at: 300)
    try retain(fixture, at: 310)
    // The machine ends while the clock is wrong; the next boot begins with it, too.
    try fixture.begin(boot: "b", at: 5, shift: base + step + 400)
    try fixture.publish(21...30, at: 30)
    try retain(fixture, at: 40)
    fixture.setClock(shift: base + 500)
    try retain(fixture, at: 50)
    try fixture.publish(31...40, at: 60)
    try retain(fixture, at: 70)
    #expect(try fixture.events() == Array(1...40))
    #expect(try transitions(fixture) == 40)
    for uptime in [Int64(75), 1_000] {
      #expect(try firstEvent(fixture, since: 3_600, at: uptime) == 1, "a moment ago")
      var filter = HistoryFilter()
      filter.limit = 1_000
      filter.since = fixture.time(uptime).wall - HistoryFixture.s(3_600)
      #expect(try fixture.reader(at: uptime).page(filter).entries.count == 40)
    }
  }

  @Test(arguments: steps) func ageIsTheTimeThatTheServiceRuns(step: Int64) throws {
    let fixture = try HistoryFixture()
    // Runs of two days each, with an event a day; the machine is off for a year after each.
    var number: UInt64 = 0
    for run in Int64(0)..<6 {
      try fixture.begin(boot: "b\(run)", at: 10, shift: base + run * 365 * day + (run == 3 ? step : 0))
      for part in Int64(0)..<2 {
        number += 1
        try fixture.publish(number...number, at: 20 + part * day)
      }
      try fixture.live(until: 10 + 2 * day)
    }
    try retain(fixture, at: 10 + 2 * day)
    // Seven days of the service: three and a half runs.
    #expect(try fixture.events() == Array(6...12))
    #expect(try transitions(fixture) == 12)
  }

  @Test(arguments: steps) func eventsOfARunExpireAcrossASstep(step: Int64) throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: base)
    try fixture.publish(1...1, at: day)
    fixture.setClock(shift: base + step)
    try fixture.publish(2...2, at: 2 * day)
    try fixture.publish(3...3, at: 3 * day)
    fixture.setClock(shift: base)
    for number in UInt64(4)...12 { try fixture.publish(number...number, at: Int64(number) * day) }
    try retain(fixture, at: 9 * day + 60)
    #expect(try fixture.events().first == 3, "what is younger than seven days")
    try retain(fixture, at: 12 * day - 60)
    #expect(try fixture.events() == Array(5...12))
  }

  @Test func eventsSinceATimeWithoutAStepAreExact() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: base)
    for second in UInt64(1)...100 { try fixture.publish(second...second, at: Int64(second)) }
    // Off for a day.
    try fixture.begin(boot: "b", at: 0, shift: base + day)
    for second in UInt64(101)...200 { try fixture.publish(second...second, at: Int64(second) - 100) }
    let reader = fixture.reader(at: 150)
    for (since, first) in [
      (base, 1), (base + 1, 1), (base + 50, 50), (base + 100, 100), (base + 101, 101), (base + day, 101),
      (base + day + 7, 107), (base + day + 100, 200), (base + day + 101, 201),
    ] as [(Int64, UInt64)] {
      #expect(try reader.firstEvent(at: HistoryFixture.s(since)) == first, "\(since - base)")
    }
    #expect(try reader.firstEvent(at: HistoryFixture.s(base + 2 * day)) == nil, "to come")
    #expect(try reader.firstEvent(at: .min) == 1)
  }

  @Test func aWrongClockThatWasCorrectedDoesNotSelectForYears() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: base)
    try fixture.publish(1...5, at: 100)
    fixture.setClock(shift: base + 450 * day)
    try fixture.publish(6...10, at: 200)
    fixture.setClock(shift: base)
    try fixture.publish(11...15, at: 20_000)
    #expect(try firstEvent(fixture, since: 3_600, at: 20_010) == 11)
    #expect(try firstEvent(fixture, since: 19_850, at: 20_010) == 6)
    var filter = HistoryFilter()
    filter.since = fixture.time(20_010).wall - HistoryFixture.s(3_600)
    #expect(try fixture.reader(at: 20_010).page(filter).entries.count == 5)
  }

  /// A client knows the right time, and the machine is in 1970.
  @Test func aTimeThatIsToComeSelectsByTheEventsOwnTimes() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: base)
    for second in UInt64(1)...10 { try fixture.publish(second...second, at: Int64(second)) }
    try fixture.begin(boot: "b", at: 0, shift: 0)
    try fixture.publish(11...12, at: 20)
    let reader = fixture.reader(at: 30)
    #expect(try reader.firstEvent(at: HistoryFixture.s(base + 4)) == 4)
    var filter = HistoryFilter()
    filter.isDescending = false
    filter.since = HistoryFixture.s(base + 4)
    filter.until = HistoryFixture.s(base + 8)
    #expect(try reader.page(filter).entries.map(\.sequence) == [4, 5, 6, 7])
    filter.until = .max
    #expect(try reader.page(filter).entries.map(\.sequence) == [4, 5, 6, 7, 8, 9, 10])
  }

  @Test func randomStepsHideNothing() throws {
    for seed in UInt64(0)..<40 {
      var random = SeededGenerator(seed: seed)
      let fixture = try HistoryFixture()
      /// The right time of each event, and its boot.
      var events: [(time: Int64, boot: Int)] = []
      /// The boots with an event while the clock was right.
      var known: Set<Int> = []
      var boot = 0
      var (start, uptime, error) = (base, Int64(0), Int64(0))
      func shift() -> Int64 { start + error }
      try fixture.begin(boot: "b0", at: 0, shift: shift())
      for step in 1...120 {
        uptime += Int64.random(in: 0...400, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
          error = Self.steps.randomElement(using: &random) ?? 0
          fixture.setClock(shift: shift())
        case 1:
          error = 0
          fixture.setClock(shift: shift())
        case 2:
          try fixture.live(until: uptime)
          start += uptime + Int64.random(in: 0...50_000, using: &random)
          if Bool.random(using: &random) { error = Self.steps.randomElement(using: &random) ?? 0 }
          uptime = Int64.random(in: 0...20, using: &random)
          start -= uptime
          boot = step
          try fixture.begin(boot: "b\(step)", at: uptime, shift: shift())
        default:
          let number = UInt64(events.count + 1)
          try fixture.publish(number...number, at: uptime)
          events.append((start + uptime, boot))
          if error == 0 { known.insert(boot) }
        }
      }
      // The clock is right when it is asked.
      error = 0
      fixture.setClock(shift: shift())
      uptime += 10
      let now = start + uptime
      known.insert(boot)
      for _ in 0..<20 {
        let since = now - Int64.random(in: 0...100_000, using: &random)
        let selected = events.indices.filter { events[$0].time >= since && known.contains(events[$0].boot) }
        let reader = fixture.reader(at: uptime)
        let found = try reader.firstEvent(at: HistoryFixture.s(since))
        if let first = selected.first {
          #expect(found.map { $0 <= UInt64(first + 1) } ?? false, "seed \(seed), since \(since - base)")
        }
        var filter = HistoryFilter()
        (filter.since, filter.limit) = (HistoryFixture.s(since), 1_000)
        let entries = Set(try reader.page(filter).entries.map(\.sequence))
        let hidden = selected.filter { !entries.contains(UInt64($0 + 1)) }
        #expect(hidden.isEmpty, "seed \(seed), since \(since - base): \(hidden)")
      }
      try retain(fixture, at: uptime)
      #expect(try fixture.events().count == events.count, "seed \(seed)")
    }
  }

  @Test func eventsThatAreNotStoredMayBeSelected() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: base)
    let moment = HistoryFixture.s(base + 10)
    try fixture.connection.run("INSERT INTO hole VALUES(1, 20)")
    #expect(try fixture.reader(at: 30).firstEvent(at: moment) == 1, "no event is stored")
    try fixture.publish(21...22, at: 40)
    #expect(try fixture.reader(at: 50).firstEvent(at: moment) == 1)
    #expect(try fixture.reader(at: 50).firstEvent(at: HistoryFixture.s(base + 45)) == 23)
    try fixture.connection.run("INSERT INTO hole VALUES(23, 30)")
    #expect(try fixture.reader(at: 50).firstEvent(at: HistoryFixture.s(base + 45)) == 23)
    try fixture.publish(31...32, at: 60)
    #expect(try fixture.reader(at: 70).firstEvent(at: HistoryFixture.s(base + 45)) == 23)
    #expect(try fixture.reader(at: 70).firstEvent(at: HistoryFixture.s(base + 61)) == 33)
  }

  // MARK: - Samples

  @Test(arguments: steps) func samplesStayAcrossAStep(step: Int64) throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: base)
    let recorder = SampleRecorder()
    func flush(at uptime: Int64) throws {
      let flushed = try fixture.connection.transaction { () throws(DatabaseError) in
        try recorder.flush(fixture.connection, at: fixture.time(uptime))
      }
      recorder.committed(flushed)
    }
    func count(_ table: String) throws -> Int64? {
      try fixture.connection.query("SELECT count(*) FROM \(table)") { $0.integer(0) }.first
    }
    for hour in Int64(0)..<10 {
      if hour == 4 { fixture.setClock(shift: base + step) }
      if hour == 6 { fixture.setClock(shift: base) }
      let time = fixture.time(hour * 3_600)
      recorder.record(Sample(time: time.wall / 1_000, latency: 1_000, state: .up), of: "target:db")
      try flush(at: hour * 3_600 + 1)
      try retain(fixture, at: hour * 3_600 + 2)
    }
    // A step of an hour has two of them in one.
    #expect(try count("sample") ?? 0 >= 7)
    let samples = try count("sample")
    #expect(try count("hour") == samples)
    try retain(fixture, at: 10 * 3_600 + 48 * 3_600 - 7_200)
    #expect(try count("sample") ?? 0 >= 1)
    try retain(fixture, at: 10 * 3_600 + 49 * 3_600)
    #expect(try count("sample") == 0, "their age is known although the clock was wrong")
    #expect(try count("hour") == samples)
    try retain(fixture, at: 100 * day)
    #expect(try count("hour") == 0)
    #expect(try count("day") ?? 0 > 0)
    try retain(fixture, at: 801 * day)
    #expect(try count("day") == 0)
    #expect(try count("period") == 0)
  }
}
