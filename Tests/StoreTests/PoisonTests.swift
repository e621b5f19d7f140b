import Glibc
import TestSupport
import Testing

@Suite("A database whose reading ends or blocks the process", .needsNamespaces, .serialized)
struct PoisonTests {
  private let starts: UnfinishedStarts
  private var fixture: StoreFixture { starts.fixture }

  init() throws { starts = try UnfinishedStarts() }

  @Test("The process that reads it ends, and the service starts")
  func crash() throws {
    try starts.register(2)
    try starts.poison("crash")
    let before = try starts.bytes("reachd.db")
    for _ in 1...2 { try starts.crash() }
    let third = try starts.start()
    let warning = try starts.warning(third)
    #expect(warning.contains("kept 0 targets") && warning.contains("ended before its last row"), "\(warning)")
    #expect(try starts.bytes(#require(starts.aside.first)) == before)
    // The new database is another file, whose reading has no effect.
    #expect(try third.get("/history").status == 200)
    try third.terminate()
    #expect(starts.marker == nil)
  }

  @Test("The rows before the one that ends the reading are kept")
  func partialCopy() throws {
    try starts.register(200)
    try starts.poison("crash")
    for _ in 1...2 { try starts.crash() }
    try starts.poison("crash", from: 12)
    let third = try starts.start()
    let kept = try JSONValue(third.get("/targets?limit=1000").text)["targets"]?.elements?.count ?? 0
    #expect((1..<200).contains(kept), "\(kept): \(third.child.errors)")
    #expect(try starts.warning(third).contains("kept \(kept) targets"))
    try third.terminate()
  }

  @Test("The process that reads it has a limit of memory")
  func memory() throws {
    try starts.register()
    try starts.poison("crash")
    for _ in 1...2 { try starts.crash() }
    try starts.poison("eat")
    let third = try starts.start()
    #expect(try starts.warning(third).contains("kept 0 targets"))
    try third.terminate()
  }

  @Test("SIGTERM ends a start whose reading process waits, and that process; the database has its name")
  func hang() throws {
    try starts.register()
    try starts.poison("crash")
    for _ in 1...2 { try starts.crash() }
    try starts.poison("hang")
    let third = try starts.launch()
    let readers = { try fixture.namespace.run("/bin/sh", ["-c", "pgrep -P \(third.id) || true"]) }
    #expect(try eventually { try !readers().isEmpty }, "\(third.errors)")
    let reader = try #require(Int32(try readers().filter(\.isNumber)))
    #expect(eventually { starts.marker == 3 })
    third.kill(SIGTERM)
    #expect(try third.wait() == .exited(0), "\(third.errors)")
    #expect(eventually { Glibc.kill(reader, 0) != 0 }, "the reading process ends with its parent")
    #expect(starts.aside.isEmpty && starts.marker == nil)
    starts.disk.end()
    let next = try starts.start()
    #expect(try next.get("/targets/t0").status == 200)
    try next.terminate()
  }

  @Test("Rows of other types and sizes than the program writes are not kept, and the others are")
  func strangeRows() throws {
    try starts.register(3)
    _ = try fixture.sqlite(
      """
      UPDATE target SET definition = zeroblob(3000000) WHERE ref = (SELECT ref FROM subject WHERE name = 'target:t0');
      INSERT INTO subject(name) VALUES('target:huge'), ('machine2'), ('target:text');
      INSERT INTO target SELECT ref, hex(zeroblob(30000000)), 'runtime', 1, NULL, NULL FROM subject WHERE name = 'target:huge';
      INSERT INTO target SELECT ref, '{}', 'runtime', 'x', 'y', 5 FROM subject WHERE name IN ('machine2', 'target:text');
      INSERT INTO webhook(id, epoch, cursor, attempt, next, state) VALUES('odd', x'00', 'a', 1.5, 'b', zeroblob(9));
      INSERT INTO webhook(id, epoch, cursor, attempt, next, state) VALUES('ops', '6f1c2a90', 7, 2, NULL, '{}');
      """)
    for count in 1...2 { try starts.kill(at: count) }
    let third = try starts.start()
    let warning = try starts.warning(third)
    #expect(warning.contains("kept 2 targets and 1 positions") && !warning.contains("missing"), "\(warning)")
    #expect(try third.get("/targets/t2").status == 200)
    try third.terminate()
  }

  @Test("A target counts for the quota of its token again")
  func quota() throws {
    let program = StoreDaemon.program
    let child = try fixture.namespace.spawn(
      program, ["token", "create", "--scope", "targets:write", "--id", "ci"], environment: Program.bareEnvironment)
    try child.wait()
    let line = try #require(child.errors.split(separator: "\n").first { $0.contains("sha256") })
    let entry = line.replacing("  - {", with: "").replacing("}", with: "")
    let configuration = starts.policy + "tokens: [{\(entry), limits: { targets: 1 } }]\n"
    let token = child.output.filter { !$0.isNewline }
    func register(_ daemon: StoreDaemon, _ id: String) throws -> String {
      try fixture.namespace.run(
        "/usr/bin/curl",
        [
          "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Authorization: Bearer \(token)", "-H",
          "Content-Type: application/json", "--data-binary",
          #"{"id": "\#(id)", "target": "tcp://127.0.0.1:9"}"#, "http://127.0.0.1:\(daemon.port)/targets",
        ])
    }
    let first = try starts.start(configuration)
    #expect(try register(first, "a") == "201")
    try first.terminate()
    for count in 1...2 { try starts.kill(at: count, configuration) }
    let third = try starts.start(configuration)
    #expect(try third.get("/targets/a").status == 200)
    #expect(try register(third, "b") == "403")
    try third.terminate()
  }
}
