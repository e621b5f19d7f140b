import HostProcess
import TestSupport
import Testing

@testable import History

@Suite struct CalendarTests {
  private let zones = TimeZoneDatabase()

  private func hours(_ month: String, _ zone: String) throws -> Double {
    let range = try #require(CalendarMonth(month)).range(in: try #require(zones.rules(zone)))
    return Double(range.count) / 3_600_000_000
  }

  @Test(arguments: [
    ("2026-10", "Europe/Berlin", 745.0), ("2026-03", "Europe/Berlin", 743), ("2026-03", "America/New_York", 743),
    ("2026-11", "America/New_York", 721), ("2026-10", "UTC", 744), ("2026-10", "Asia/Tokyo", 744),
    ("2026-10", "Asia/Kolkata", 744), ("2026-10", "Australia/Lord_Howe", 743.5),
    ("2026-04", "Australia/Lord_Howe", 720.5),
    ("2026-02", "Europe/Berlin", 672), ("2028-02", "Europe/Berlin", 696), ("2000-02", "UTC", 696),
    ("2100-02", "UTC", 672),
    // After the changes that the file lists.
    ("2080-10", "Europe/Berlin", 745), ("2080-03", "America/New_York", 743), ("2080-10", "Africa/Cairo", 745),
    // A whole day was left out.
    ("2011-12", "Pacific/Apia", 720), ("2026-10", "Etc/GMT+5", 744), ("2026-10", "America/Argentina/Buenos_Aires", 744),
  ])
  func monthsHaveTheirHours(month: String, zone: String, expected: Double) throws {
    #expect(try hours(month, zone) == expected)
  }

  @Test func monthsBeginAtTheirMidnight() throws {
    func start(_ month: String, _ zone: String) throws -> Int64 {
      try #require(CalendarMonth(month)).range(in: try #require(zones.rules(zone))).lowerBound / 1_000_000
    }
    #expect(try start("2026-10", "UTC") == 1_790_812_800)
    #expect(try start("2026-10", "Europe/Berlin") == 1_790_812_800 - 7_200)
    #expect(try start("2026-11", "Europe/Berlin") == 1_793_491_200 - 3_600)
    #expect(try start("2026-10", "America/Los_Angeles") == 1_790_812_800 + 7 * 3_600)
    #expect(try start("2026-10", "Asia/Kathmandu") == 1_790_812_800 - 20_700)
  }

  @Test func daysHaveTheirHours() throws {
    let berlin = try #require(zones.rules("Europe/Berlin"))
    func days(_ month: String) throws -> [Int64] {
      let days = try #require(CalendarMonth(month)).days(in: berlin)
      return zip(days, days.dropFirst()).map { ($1 - $0) / 3_600_000_000 }
    }
    #expect(try days("2026-10") == (1...31).map { $0 == 25 ? 25 : 24 })
    #expect(try days("2026-03") == (1...31).map { $0 == 29 ? 23 : 24 })
    let month = try #require(CalendarMonth("2026-10"))
    let day: Int64 = 86_400_000_000
    #expect(UptimeWindow(month, in: berlin, step: day).bounds == month.days(in: berlin))
    #expect(UptimeWindow(month, in: berlin, step: 7 * day).steps == 5)
    #expect(UptimeWindow(month, in: berlin, step: day / 24).steps == 745)
    #expect(UptimeWindow(month, in: berlin).bounds == [month.days(in: berlin)[0], month.days(in: berlin)[31]])
  }

  /// Where the clocks skip midnight, or show it twice.
  @Test func monthsAreAdjacent() throws {
    for zone in [
      "America/Havana", "Asia/Beirut", "America/Asuncion", "Africa/Cairo", "Asia/Gaza", "Europe/London", "Asia/Amman",
    ] {
      let rules = try #require(zones.rules(zone))
      for year in 1975...2080 {
        for month in 1...12 {
          let this = try #require(CalendarMonth("\(year)-\(month < 10 ? "0" : "")\(month)"))
          let next = try #require(
            CalendarMonth(month == 12 ? "\(year + 1)-01" : "\(year)-\(month < 9 ? "0" : "")\(month + 1)"))
          #expect(this.range(in: rules).upperBound == next.range(in: rules).lowerBound)
          let days = this.days(in: rules)
          #expect(zip(days, days.dropFirst()).allSatisfy { ($1 - $0) / 3_600_000_000 > 20 }, "\(zone) \(this)")
        }
      }
    }
  }

  /// The names in `tzdata.zi` and the links to them.
  private func names() throws -> [String] {
    let find = try Child("/usr/bin/find", [TimeZoneDatabase.directory, "-type", "f", "-size", "-8k"])
    #expect(try find.wait() == .exited(0))
    let all = find.output.split(separator: "\n").map { String($0.dropFirst(TimeZoneDatabase.directory.count + 1)) }
    return all.filter { zones.rules($0) != nil }.sorted()
  }

  /// `date` uses mktime(3).
  @Test("Months of all time zones begin when the C library says", .timeLimit(.minutes(5)))
  func comparison() throws {
    let names = try names()
    #expect(names.count > 300)
    let months = stride(from: Int64(1970), to: 2100, by: 1).flatMap { year in
      (1...12).compactMap { CalendarMonth("\(year)-\($0 < 10 ? "0" : "")\($0)") }
    }
    let input = months.map { "\($0)-01 00:00" }.joined(separator: "\n") + "\n"
    var compared = 0
    for name in names {
      let date = try Child("/usr/bin/date", ["-f", "-", "+%Y-%m-%dT%H:%M %s"], environment: ["TZ": name], input: input)
      // A midnight that the clocks skip is an error.
      _ = try date.wait()
      var times: [Substring: Int64] = [:]
      for line in date.output.split(separator: "\n") {
        let parts = line.split(separator: " ")
        times[parts[0]] = Int64(parts[1])
      }
      let rules = try #require(zones.rules(name))
      for month in months {
        guard let expected = times["\(month)-01T00:00"] else { continue }
        let found = month.range(in: rules).lowerBound / 1_000_000
        compared += 1
        // A midnight that the clocks show twice has two answers.
        #expect(found == expected || found + 3_600 == expected || found + 7_200 == expected, "\(name) \(month)")
      }
    }
    #expect(compared > names.count * 1_500)
  }

  @Test(arguments: [
    "", "2026", "2026-1", "2026-13", "2026-00", "2026-10-01", "26-10", "2026/10", " 2026-10", "2026-1x", "1969-12",
    "+026-10",
    "２０２６-10", "-026-10",
  ])
  func otherTextsAreNoMonths(text: String) { #expect(CalendarMonth(text) == nil) }

  @Test(arguments: [
    "", "Europe", "Europe/", "/Europe/Berlin", "../zoneinfo/Europe/Berlin", "Europe/../Europe/Berlin", "Europe//Berlin",
    "europe/nowhere", "zone.tab", "leapseconds", "right/Europe/Berlin", "Europe/Berlin\0", "a/b/c/d", "Europe/Berlin ",
    String(repeating: "A", count: 65), "/etc/passwd", "posix/Europe/Berlin/x",
  ])
  func otherNamesAreNoZones(name: String) { #expect(zones.rules(name) == nil) }

  @Test func damagedFilesAreNoZones() throws {
    let path = TimeZoneDatabase.directory + "/Europe/Berlin"
    let bytes = try FileReader.bytes(of: path, limit: 1 << 16)
    #expect(TimeZoneRules(tzif: bytes) != nil)
    for count in stride(from: 0, to: bytes.count, by: 7) { _ = TimeZoneRules(tzif: Array(bytes.prefix(count))) }
    var random = SystemRandomNumberGenerator()
    let day = CalendarDay(year: 2026, month: 3, day: 29)
    for _ in 0..<3_000 {
      var damaged = bytes
      for _ in 0..<3 {
        damaged[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = TimeZoneRules(tzif: damaged)?.start(of: day)
    }
  }

  @Test(arguments: [
    "", "CET", "CET-", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0/3",
    "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J300", "CET-1CEST,366,1", "CET-1CEST,M3.5.0/168,M10.5.0", "<+03-3",
    "CET-1CEST,M3.5.0,M10.5.0,", "CET-25",
  ])
  func otherTextsAreNoRules(text: String) { #expect(TimeZoneYearRule(text) == nil) }
}
