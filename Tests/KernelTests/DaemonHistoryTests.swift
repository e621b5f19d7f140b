import TestSupport
import Testing

/// The history of the real program over restarts.
@Suite("History of the program", .needsNamespaces) struct DaemonHistoryTests {
  private let data: TemporaryDirectory
  private let runtime: TemporaryDirectory
  private let namespace: Namespace

  init() throws {
    data = try TemporaryDirectory()
    runtime = try TemporaryDirectory(in: "/dev/shm")
    namespace = try Namespace()
  }

  private func start(_ targets: [String: UInt16]) throws -> DaemonUnderTest {
    let list = targets.sorted { $0.key < $1.key }.map { id, port in
      "  - {id: \(id), target: \"tcp://127.0.0.1:\(port)\", interval: 100ms, timeout: 50ms, fall: 1, rise: 1}\n"
    }
    let configuration =
      "data: \(data.path)\nstore: {runtime: \(runtime.path)}\n" + (list.isEmpty ? "" : "targets:\n\(list.joined())")
    return try DaemonUnderTest(in: namespace, configuration: configuration)
  }

  private func states(_ daemon: DaemonUnderTest, _ target: String) throws -> [String] {
    try daemon.get(target).json["history"]?.elements?.compactMap { $0["to"]?.text } ?? []
  }

  private func wait(_ daemon: DaemonUnderTest, for state: String, of id: String) throws {
    let isThere = eventually { (try? states(daemon, "/targets/\(id)/history").first) == state }
    try #require(isThere, "\(id) is not \(state): \(daemon.child.errors)")
  }

  @Test("Starts, stops, removed targets and the time without the service are in the history")
  func restarts() throws {
    let open = try RegisteredTargetTests.OpenPort(in: namespace)
    let first = try start(["db": open.number, "old": 1])
    try wait(first, for: "up", of: "db")
    try wait(first, for: "down", of: "old")
    first.child.kill(15)
    #expect(try first.child.wait() == .exited(0))

    let second = try start(["db": open.number])
    #expect(try states(second, "/history?types=service&order=asc") == ["running", "stopped", "running"])
    #expect(try states(second, "/targets/old/history").contains("down"), "a removed target keeps its history")
    #expect(try second.get("/targets/old").status == 404)
    let uptime = try second.get("/targets/db/uptime?window=1m").json
    #expect(uptime["availability"] == .number(1), "\(uptime)")
    #expect(try second.get("/targets/never/uptime").status == 404)
    second.child.kill(9)
    _ = try second.child.wait()

    let third = try start(["db": open.number])
    let stops = try third.get("/history?types=service&states=stopped&order=asc").json["history"]?.elements ?? []
    #expect(stops.compactMap { $0["clean"] } == [.bool(true), .bool(false)])
    let times =
      try third.get("/history?order=asc&limit=1000").json["history"]?.elements?.compactMap { $0["time"]?.text } ?? []
    #expect(times.count > 5 && times == times.sorted(), "a killed process stopped after its last event: \(times)")
    let latency = try third.get("/targets/db/latency?step=1d").json
    #expect(latency["steps"]?.elements?.isEmpty == false, "\(latency)")
    #expect(try third.get("/targets/db/badge.svg?metric=uptime").text.contains("100.00 %"))
    let since = try third.get("/events?since=-1h&types=target", ["Accept": "application/json"])
    #expect(since.status == 200)
  }

  @Test("Fifty readers get whole pages while events arrive")
  func readers() throws {
    let open = try RegisteredTargetTests.OpenPort(in: namespace)
    let daemon = try start(["db": open.number])
    try wait(daemon, for: "up", of: "db")
    let readers = try (0..<50).map { _ in try HTTPConnection(port: daemon.port, in: namespace) }
    for round in 0..<10 {
      for number in 1...5 { try namespace.ip("address add 10.77.\(round).\(number)/32 dev lo") }
      for reader in readers { try reader.get("/history?limit=50&order=asc", [:]) }
      for reader in readers {
        let answer = try reader.answer()
        #expect(answer.status == 200)
        #expect(try answer.json["history"]?.elements?.isEmpty == false)
      }
    }
    let page = try daemon.get("/history?limit=1000&subject=interface:lo").json["history"]?.elements ?? []
    let ids = page.compactMap { $0["id"]?.text }
    #expect(ids.count >= 10, "\(page.count)")
    #expect(Set(ids).count == ids.count, "no event is there twice")
  }
}
