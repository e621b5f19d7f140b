import TestSupport
import Testing

@Suite("Registered targets with a data directory", .needsNamespaces)
struct StoredTargetTests {
  private let fixture: StoreFixture
  /// Clients may not contact this machine by default.
  private let policy = "policy: { allow: ['127.0.0.0/8'] }\n"

  init() throws { fixture = try StoreFixture() }

  private func target(_ daemon: StoreDaemon, _ id: String) throws -> (document: JSONValue, tag: String?) {
    let answer = try daemon.get("/targets/\(id)")
    return (try JSONValue(answer.text), answer.head.fields["etag"])
  }

  @Test("A client's target survives a kill with definition, revision, state and pause", arguments: [true, false])
  func survives(_ isKilled: Bool) throws {
    let first = try fixture.start(configuration: policy)
    let body = #"{"id": "a", "target": "tcp://127.0.0.1:9", "interval": "300ms", "labels": {"env": "test"}, "rise": 7}"#
    #expect(try first.send("POST", "/targets", body).status == 201)
    #expect(try first.send("POST", "/targets", #"{"id": "b", "target": "tcp://127.0.0.1:9"}"#).status == 201)
    #expect(try first.send("POST", "/targets/b/pause").status == 200)
    #expect(try first.send("POST", "/targets", #"{"id": "c", "target": "tcp://127.0.0.1:9"}"#).status == 201)
    #expect(try first.send("DELETE", "/targets/c").status == 204)
    #expect(try eventually { try target(first, "a").document["state"]?.text == "down" })
    let (before, tag) = try target(first, "a")
    if isKilled {
      first.child.kill()
      _ = try first.child.wait()
    } else {
      try first.terminate()
    }
    let second = try fixture.start(configuration: policy)
    let (after, tagAfter) = try target(second, "a")
    for member in ["target", "labels", "intervalSeconds", "timeoutSeconds", "fall", "rise", "state", "reason", "since"]
    {
      #expect(after[member] == before[member], "\(member)")
    }
    #expect(tagAfter == tag)
    #expect(try target(second, "b").document["state"]?.text == "paused")
    #expect(try second.get("/targets/c").status == 404)
    try second.terminate()
  }

  @Test("A target whose module left the file is refused with a reason until the module is back")
  func missingModule() throws {
    let modules = policy + "modules:\n  quick: { prober: tcp }\n"
    let first = try fixture.start(configuration: modules)
    let body = #"{"id": "a", "target": "tcp://127.0.0.1:9", "module": "quick", "interval": "300ms"}"#
    #expect(try first.send("POST", "/targets", body).status == 201)
    #expect(try eventually { try target(first, "a").document["state"]?.text == "down" })
    try first.terminate()
    let second = try fixture.start(configuration: policy)
    #expect(try eventually { try target(second, "a").document["lastCheck"]?["reason"]?.text == "policyDenied" })
    #expect(try target(second, "a").document["module"]?.text == "quick")
    #expect(eventually { second.child.errors.contains("not configured any more") })
    try second.terminate()
    let third = try fixture.start(configuration: modules)
    #expect(try eventually { try target(third, "a").document["lastCheck"]?["reason"]?.text == "refused" })
    #expect(try eventually { try target(third, "a").document["state"]?.text == "down" })
    try third.terminate()
  }

  @Test("A target of the file keeps its state and a client's pause, and leaves with the file")
  func configured() throws {
    let one = "targets:\n  - { id: a, target: 'tcp://127.0.0.1:9', interval: 300ms }\n"
    let two = one + "  - { id: b, target: 'tcp://127.0.0.1:9' }\n"
    let first = try fixture.start(configuration: two)
    #expect(try first.send("POST", "/targets/b/pause").status == 200)
    #expect(try eventually { try target(first, "a").document["state"]?.text == "down" })
    let before = try target(first, "a")
    try first.terminate()
    let second = try fixture.start(configuration: two)
    let after = try target(second, "a")
    #expect(after.document["since"] == before.document["since"])
    #expect(after.tag == before.tag)
    #expect(try target(second, "b").document["state"]?.text == "paused")
    let snapshot = try #require(try second.events().next())
    try second.terminate()
    let third = try fixture.start(configuration: one)
    #expect(try third.get("/targets/b").status == 404)
    let reader = try third.events(after: snapshot.id)
    var event = try #require(try reader.next())
    while event.data["target"]?["id"]?.text != "b" { event = try #require(try reader.next()) }
    #expect(event.data["removed"] == .bool(true))
    #expect(event.data["cause"]?.texts == ["configuration", "restart"])
    try third.terminate()
  }
  @Test(
    "A target whose state cannot be read keeps its definition; one whose definition cannot be read is reported",
    arguments: ["state = x'00ff'", "state = x''", "state = zeroblob(100000)", "state = ''", "state = 7"])
  func unreadableState(_ change: String) throws {
    let first = try fixture.start(configuration: policy)
    for id in ["a", "b", "c"] {
      #expect(try first.send("POST", "/targets", #"{"id": "\#(id)", "target": "tcp://127.0.0.1:9"}"#).status == 201)
    }
    try first.terminate()
    let row = { (id: String) in "WHERE ref = (SELECT ref FROM subject WHERE name = 'target:\(id)')" }
    _ = try fixture.sqlite(
      "UPDATE target SET \(change) \(row("a")); UPDATE target SET definition = '{' \(row("b")); "
        + "UPDATE target SET origin = 'other' \(row("c"))")
    let second = try fixture.start(configuration: policy)
    #expect(try target(second, "a").document["target"]?.text == "tcp://127.0.0.1:9", "\(second.child.errors)")
    for id in ["b", "c"] {
      #expect(try second.get("/targets/\(id)").status == 404)
      #expect(
        second.child.errors.split(separator: "\n").contains {
          $0.contains("a stored target is not registered") && $0.contains("target=\(id)")
        }, "\(second.child.errors)")
    }
    try second.terminate()
  }
}
