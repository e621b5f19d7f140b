import EmbeddedHTTPServer
import JSONFormat
import NetworkReachability
import ReachabilityFleet
import TestSupport
import Testing

@testable import FleetAPI
@testable import HTTPRouting
@testable import StatusAPI

@Suite("FleetRoutes")
struct FleetRoutesTests {
  @Test("A node has no routes of the fleet")
  func node() throws {
    let service = try ScriptedService()
    for path in FleetRoutes.all.map(\.declaration.pattern) where !path.contains("{") {
      #expect(try service.ask(path).status == 404)
    }
    #expect(try !service.ask("/", ["Accept": "text/plain"]).text.contains("/fleet"))
  }

  @Test("The votes of the agents make the verdict, at every replica the same")
  func verdict() throws {
    let fleet = try FleetFixture()
    for agent in ["a", "b", "c"] { fleet.hello(agent) }
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432"}"#).status == 201)
    // First, because the verdict may be made before a later message is folded.
    fleet.say("c", 1, "db", .up)
    for agent in ["a", "b"] { fleet.say(agent, 1, "db", .down) }
    try fleet.waitUntil { $0.fold.targets["db"]?.verdict?.message.to == .down }
    let documents = try (0..<2).map { try fleet.ask("/fleet/targets/db", replica: $0).text }
    #expect(documents[0] == documents[1])
    let object = try fleet.ask("/fleet/targets/db").object()
    #expect(object["verdict"] as? String == "down")
    #expect(object["downFrom"] as? [String] == ["a", "b"])
    #expect((object["vantages"] as? [[String: Any]])?.count == 3)
    #expect((try fleet.ask("/fleet").object()["verdicts"] as? [String: Int])?["down"] == 1)
    #expect(try fleet.ask("/fleet/agents/a").object()["state"] as? String == "present")
    #expect(try fleet.ask("/fleet/agents/x").status == 404)
  }

  @Test("A version is defined once, and preconditions hold")
  func versions() throws {
    let fleet = try FleetFixture()
    let body = #"{"target":"tcp://192.0.2.9:5432","place":{"count":2},"quorum":{"down":"50%"}}"#
    let created = try fleet.put("db", body)
    #expect(created.status == 201 && created.headers["ETag"]?.hasPrefix("\"1.") == true)
    #expect(try fleet.put("db", body).status == 200)
    #expect(try fleet.put("db", body, ["If-None-Match": "*"]).status == 412)
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:1"}"#, ["If-Match": "\"7\""]).status == 412)
    let changed = try fleet.put("db", #"{"target":"tcp://192.0.2.9:1"}"#, ["If-Match": "\"1\""])
    #expect(changed.status == 200 && changed.headers["ETag"]?.hasPrefix("\"2.") == true)
    #expect(try fleet.ask("/fleet/targets", method: "POST", body: #"{"id":"db","target":"tcp://x:1"}"#).status == 409)
    // A document may be sent back.
    #expect(try fleet.put("db", changed.text).status == 200)
    #expect(try fleet.put("mesh.a", #"{"target":"tcp://x:1"}"#).status == 422)
    #expect(try fleet.put("x", #"{"target":"tcp://x:1","quorum":{"down":0}}"#).status == 422)
    #expect(try fleet.ask("/fleet/targets/db", method: "DELETE").status == 204)
    #expect(try fleet.ask("/fleet/targets/db").status == 404)
    #expect(try fleet.put("db", body).headers["ETag"]?.hasPrefix("\"4.") == true, "versions go on")
  }

  @Test(
    "A precondition has the version as the tag has it",
    arguments: ["+1", "01", "001.7", "+1.0", "1x", "", "0x1", "1 "])
  func otherNumerals(tag: String) throws {
    let fleet = try FleetFixture()
    let body = #"{"target":"tcp://192.0.2.9:5432"}"#
    #expect(try fleet.put("db", body).status == 201)
    #expect(try fleet.put("db", body, ["If-Match": "\"\(tag)\""]).status == 412)
    #expect(try fleet.put("db", body, ["If-None-Match": "\"\(tag)\""]).status == 200)
    #expect(try fleet.put("db", body, ["If-Match": "\"1.7\""]).status == 200)
  }

  @Test("The tag of a page is weak, and covers whether another page follows")
  func pages() throws {
    let fleet = try FleetFixture()
    for id in ["a", "b"] { #expect(try fleet.put(id, #"{"target":"tcp://192.0.2.9:1"}"#).status == 201) }
    try fleet.waitUntil { $0.fold.targets.count == 2 }
    let page = "/fleet/targets?limit=2"
    let tag = try #require(try fleet.ask(page).headers["ETag"])
    #expect(tag.wholeMatch(of: #/W/"[0-9a-f]+"/#) != nil, "the coded and the identical representation share it")
    #expect(try fleet.ask(page, replica: 1).headers["ETag"] == tag)
    let waiter = try fleet.replicas[0].park(page + "&wait=1m", ["If-None-Match": tag])
    #expect(try fleet.put("c", #"{"target":"tcp://192.0.2.9:1"}"#).status == 201)
    try fleet.waitUntil { $0.fold.targets.count == 3 }
    let longer = try fleet.ask(page, ["If-None-Match": tag])
    #expect(try longer.status == 200 && longer.object()["next"] as? String == "b")
    #expect(try waiter.waitForAnswer().status == 200)
    waiter.end()
    #expect(try fleet.ask("/fleet/targets/c", method: "DELETE").status == 204)
    try fleet.waitUntil { $0.fold.targets.count == 2 }
    #expect(try fleet.ask(page, ["If-None-Match": tag]).status == 304)
  }

  @Test("A poll has the URL that its client may see when it is answered", arguments: ["", "/db"])
  func revokedVisibility(path: String) throws {
    let fleet = try FleetFixture()
    #expect(try fleet.put("db", #"{"target":"https://192.0.2.9/?key=OLD"}"#).status == 201)
    try fleet.waitUntil { $0.fold.targets.count == 1 }
    let page = "/fleet/targets\(path)"
    let before = try fleet.ask(page)
    #expect(before.text.contains("OLD"))
    let waiter = try fleet.replicas[0].park(page + "?wait=1m", ["If-None-Match": before.headers["ETag"] ?? ""])
    fleet.replicas[0].service.replaceAccess(AccessPolicy(listeners: [.init(checks: .token)]))
    let change = #"{"target":"https://192.0.2.9/?key=NEW"}"#
    #expect(try fleet.ask("/fleet/targets/db", method: "PUT", body: change, replica: 1).status == 200)
    let answer = try waiter.waitForAnswer()
    #expect(answer.status == 200 && !answer.text.contains("NEW"), "\(answer.text)")
    waiter.end()
  }

  @Test("The matrix has the cells of all agents, in JSON and CSV, in pages")
  func matrix() throws {
    let fleet = try FleetFixture()
    for (agent, zone) in [("a", "z1"), ("b", "z2")] {
      fleet.hello(agent, zone: zone)
      fleet.say(agent, 1, "db", .up)
      fleet.say(agent, 2, "web", .down)
    }
    try fleet.waitUntil { $0.fold.nodes["b"]?.cells.count == 2 }
    let page = try fleet.ask("/fleet/matrix?limit=3").object()
    #expect((page["cells"] as? [[String: Any]])?.count == 3)
    #expect(page["next"] as? String == "web:a")
    let rest = try fleet.ask("/fleet/matrix?cursor=web:a", ["Accept": "text/csv"])
    #expect(rest.text.hasPrefix("target,agent,zone,state,reason,since\r\nweb,b,z2,down,noRoute,"))
    #expect(try (fleet.ask("/fleet/matrix?state=down&from=a").object()["cells"] as? [Any])?.count == 1)
    #expect(try fleet.ask("/fleet/matrix?state=x").status == 400)
  }

  @Test("A subscriber continues at the other replica, and gets a gap after the engine lost its stream")
  func events() throws {
    let fleet = try FleetFixture()
    fleet.hello("a")
    fleet.say("a", 1, "db", .up)
    try fleet.waitUntil { $0.fold.nodes["a"]?.cells.count == 1 }
    let id = try #require(try fleet.ask("/fleet").object()["lastEventId"] as? String)
    fleet.say("a", 2, "db", .down)
    try fleet.waitUntil { $0.fold.nodes["a"]?.highWater == 2 }
    let streams = try (0..<2).map { try fleet.ask("/fleet/events", ["Last-Event-ID": id], replica: $0).text }
    #expect(streams[0] == streams[1])
    #expect(streams[0].contains("event: cell\n") && !streams[0].contains("event: gap"))
    #expect(try fleet.ask("/fleet/events").text.contains("event: snapshot\n"))
    // An empty id is none, as an EventSource sends it; the other source counts then.
    let first = try fleet.ask("/fleet/events").text
    for query in ["", "?lastEventId="] {
      #expect(try fleet.ask("/fleet/events" + query, ["Last-Event-ID": ""]).text == first)
      #expect(try fleet.ask("/fleet/events" + query).text == first)
    }
    #expect(try fleet.ask("/fleet/events?lastEventId=\(id)", ["Last-Event-ID": ""]).text == streams[0])
    #expect(try fleet.ask("/fleet/events?lastEventId=", ["Last-Event-ID": id]).text == streams[0])
    #expect(try fleet.ask("/fleet/events", ["Last-Event-ID": " x"]).text.contains("event: gap"))
    #expect(try !fleet.ask("/fleet/events?types=verdict", ["Last-Event-ID": id]).text.contains("event: cell"))
    #expect(try fleet.ask("/fleet/events?types=x").status == 400)
    fleet.engine.wipe()
    try fleet.waitUntil { $0.isComplete && $0.fold.nodes["a"] == nil }
    let after = try fleet.ask("/fleet/events", ["Last-Event-ID": id]).text
    #expect(after.contains(#""reason":"otherHistory""#))
  }

  @Test("A subscriber selects agents, zones and targets")
  func selection() throws {
    let fleet = try FleetFixture()
    let id = try #require(try fleet.ask("/fleet").object()["lastEventId"] as? String)
    for (agent, zone) in [("a", "x"), ("b", "y")] {
      fleet.hello(agent, zone: zone)
      for (number, target) in [(1 as UInt64, "db"), (2, "web")] { fleet.say(agent, number, target, .up) }
    }
    try fleet.waitUntil { $0.fold.nodes["b"]?.highWater == 2 }
    func events(_ query: String) throws -> [String] {
      try fleet.ask("/fleet/events?\(query)", ["Last-Event-ID": id]).text.split(separator: "\n")
        .filter { $0.hasPrefix("data: ") }.compactMap { line in
          guard let data = try? JSON.parse(Array(line.utf8.dropFirst(6))) else { return nil }
          return [data["agent"]?.string, data["target"]?.string].compactMap(\.self).joined(separator: " ")
        }
    }
    #expect(try events("agent=a") == ["a", "a db", "a web"])
    #expect(try events("zone=y") == ["b", "b db", "b web"])
    #expect(try events("agent=a&agent=b&target=web&types=cell") == ["a web", "b web"])
    #expect(try events("agent=a&zone=y") == [])
    #expect(try fleet.ask("/fleet/events?agent=%20").status == 400)
    let many = (0...64).map { "zone=\($0)" }.joined(separator: "&")
    #expect(try fleet.ask("/fleet/events?\(many)").status == 400)
  }

  @Test("Definitions survive the loss of the stream")
  func wipe() throws {
    let fleet = try FleetFixture()
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432"}"#).status == 201)
    try fleet.waitUntil { $0.fold.targets["db"] != nil }
    let lost = Set(fleet.services.map { $0.snapshot.fold.created })
    fleet.engine.wipe()
    // Before a replica notices the loss, its state has the target, too.
    try fleet.waitUntil {
      !lost.contains($0.fold.created) && $0.isComplete && $0.fold.targets["db"] != nil
        && $0.fold.presentReplicas.count == 2
    }
    #expect(try fleet.ask("/fleet/targets/db").headers["ETag"]?.hasPrefix("\"1.") == true)
  }

  @Test("A check runs at the agents of the target, now")
  func check() throws {
    let fleet = try FleetFixture()
    for agent in ["a", "b"] { fleet.hello(agent) }
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432"}"#).status == 201)
    fleet.engine.answer("a") { payload in
      guard FleetWire.request(payload) == .check(targets: ["db"]) else { return nil }
      return FleetWire.encode(
        .results([FleetCheckResult("db", FleetCellState(.up, since: Timestamp(microseconds: 0)))]))
    }
    let body = try fleet.ask("/fleet/checks", method: "POST", body: #"{"target":"db"}"#).object()
    let results = try #require(body["results"] as? [[String: Any]])
    #expect(results.map { $0["state"] as? String } == ["up", "unknown"])
    #expect(try fleet.ask("/fleet/checks", method: "POST", body: #"{"target":"x"}"#).status == 404)
    #expect(try fleet.ask("/fleet/checks", method: "POST", body: #"{"target":"db","count":0}"#).status == 422)
  }
}
