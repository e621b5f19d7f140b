import Glibc
import TestSupport
import Testing

@Suite("A wall clock that is set", .needsNamespaces)
struct ClockTests {
  private let fixture: StoreFixture
  private let control: TemporaryDirectory
  private let library: String

  init() throws {
    fixture = try StoreFixture()
    control = try TemporaryDirectory()
    library = try PreloadedLibrary.build("clock", in: control)
  }

  private func start() throws -> StoreDaemon {
    try fixture.start(
      configuration: "targets:\n  - { id: a, target: 'tcp://127.0.0.1:9', interval: 300ms, fall: 1 }\n",
      environment: ["LD_PRELOAD": library, "CLOCK_FILE": "\(control.path)/offset"])
  }

  /// The numbers of the target's changes and outages, and the seconds of its outage.
  private func measure(_ daemon: StoreDaemon) throws -> (changes: Int, outages: Int, down: Double, other: Double) {
    let changes = try JSONValue(daemon.get("/history?types=target,status,interface").text)["history"]?.elements?.count
    let uptime = try JSONValue(daemon.get("/targets/a/uptime?window=1h").text)
    let seconds = uptime["seconds"]
    func value(_ state: String) -> Double {
      if case .number(let value) = seconds?[state] { value } else { 0 }
    }
    return (
      changes ?? -1, uptime["outages"]?.integer ?? -1, value("down"), value("up") + value("unreachable")
    )
  }

  /// CLOCK_BOOTTIME in seconds.
  private var bootTime: Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  @Test("A step of a day in either direction is no transition, and changes no uptime", arguments: [86_400, -86_400])
  func step(_ seconds: Int) throws {
    let daemon = try start()
    #expect(try eventually { try JSONValue(daemon.get("/targets/a").text)["state"]?.text == "down" })
    let before = try measure(daemon)
    let start = bootTime
    _ = try control.write("\(seconds)", as: "offset")
    // Some checks with the new time.
    let checks = { try JSONValue(daemon.get("/targets/a").text)["lastCheck"]?["checkedAt"]?.text ?? "" }
    var seen: Set<String> = []
    #expect(
      try eventually {
        seen.insert(try checks())
        return seen.count >= 5
      })
    let after = try measure(daemon)
    let elapsed = bootTime - start
    #expect(after.changes == before.changes)
    #expect(after.outages == before.outages)
    #expect(abs(after.down - before.down - elapsed) < 1, "\(before) \(after) \(elapsed)")
    #expect(after.other == 0)
    try daemon.terminate()
    let stored = try #require(Double(try fixture.sqlite("SELECT max(alive_uptime) FROM run").filter(\.isNumber)))
    #expect(abs(stored / 1e6 - bootTime) < 60, "only the wall clock was set")

    // The next run has the stepped clock from its start.
    let second = try self.start()
    let again = try measure(second)
    #expect(again.changes == before.changes)
    #expect(again.outages == before.outages)
    #expect(again.down >= after.down - 1)
    try second.terminate()
  }

  // MARK: - Runs with a wrong clock

  private func set(_ seconds: Int) throws { _ = try control.write("\(seconds)", as: "offset") }

  /// The MTU in each event of an array, from a time on.
  private func mtus(_ daemon: StoreDaemon, since: String) throws -> [Int] {
    let answer = try daemon.get("/events?since=\(since)&types=interface", ["Accept": "application/json"])
    let events = try JSONValue(answer.text).elements ?? []
    return events.filter { $0["interface"]?["name"]?.text == "d0" }.compactMap { $0["interface"]?["mtu"]?.integer }
  }

  /// The number of the interface's changes in the history from a time on.
  private func history(_ daemon: StoreDaemon, since: String) throws -> Int {
    let page = try JSONValue(daemon.get("/history?subject=interface:d0&since=\(since)&limit=1000").text)
    return page["history"]?.elements?.count ?? -1
  }

  private static let year = 365 * 86_400
  /// Three years back, as without a battery; 450 days ahead; and less than a second, which is no step.
  private static let offsets = [-3 * year, 450 * 86_400, -40 * 86_400, 5_400, -5_400]

  @Test("What happened with a wrong clock, and before it, is found by the time since then", arguments: offsets)
  func wrongClock(_ offset: Int) throws {
    let first = try start()
    try fixture.change(first, 1301...1310)
    try first.terminate()
    try set(offset)
    let second = try start()
    try fixture.change(second, 1311...1320)
    #expect(try mtus(second, since: "-1h") == Array(1301...1320), "while the clock is wrong")
    #expect(try history(second, since: "-1h") == 20)
    try set(0)
    try fixture.change(second, 1321...1330)
    #expect(try mtus(second, since: "-1h") == Array(1301...1330), "after the clock was set")
    #expect(try history(second, since: "-1h") == 30)
    try second.terminate()
    let third = try start()
    #expect(try mtus(third, since: "-1h") == Array(1301...1330), "after a restart")
    #expect(try history(third, since: "-1h") == 30)
    try third.terminate()
  }

  @Test("A boot whose clock was never set hides nothing", arguments: offsets)
  func wrongBoot(_ offset: Int) throws {
    let first = try start()
    try fixture.change(first, 1301...1310)
    try first.terminate()
    _ = try fixture.sqlite("UPDATE run SET boot = 'first'")
    try set(offset)
    let second = try start()
    try fixture.change(second, 1311...1320)
    try second.terminate()
    _ = try fixture.sqlite("UPDATE run SET boot = 'second' WHERE boot != 'first'")
    try set(0)
    let third = try start()
    try fixture.change(third, 1321...1330)
    #expect(try mtus(third, since: "-1h") == Array(1301...1330))
    #expect(try history(third, since: "-1h") == 30)
    try third.terminate()
  }

  @Test(
    "Retention deletes nothing because the clock was set", .enabled(if: isLong, "part of make test-store"),
    arguments: [450 * 86_400, -3 * year])
  func retention(_ offset: Int) throws {
    let first = try start()
    try fixture.change(first, 1301...1310)
    try first.terminate()
    let tables = ["event", "transition", "sample_minute"]
    let rows = { try tables.map { try Int(fixture.sqlite("SELECT count(*) FROM \($0)").filter(\.isNumber)) ?? -1 } }
    let before = try rows()
    try set(offset)
    let second = try start()
    // Retention runs a minute after the start, with the sign of life.
    let lived = "SELECT alive_uptime >= started_uptime + 60000000 FROM run ORDER BY id DESC LIMIT 1"
    #expect(try eventually(within: .seconds(90)) { try fixture.sqlite(lived) == "1\n" })
    try fixture.change(second, 1311...1320)
    try set(0)
    try fixture.change(second, 1321...1330)
    let after = try rows()
    #expect(zip(before, after).allSatisfy { $0 <= $1 }, "\(before) \(after)")
    #expect(try mtus(second, since: "-1h") == Array(1301...1330))
    #expect(try history(second, since: "-1h") == 30)
    try second.terminate()
  }

  private static let isLong = Program.environmentVariable("REACHD_STORE_KILLS") != nil
}
