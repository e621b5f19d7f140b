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
}
