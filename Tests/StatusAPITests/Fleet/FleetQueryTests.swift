import DequeModule
import EventLoop
import Locks
import NetworkReachability
import ReachabilityFleet
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import FleetAPI
@testable import HTTPRouting
@testable import StatusAPI

@Suite("Queries of a fleet")
struct FleetQueryTests {
  @Test("Agents say about each other who is reached, and those without a path or a voice abstain")
  func mesh() throws {
    let fleet = try FleetFixture()
    for (agent, zone) in [("a", "x"), ("b", "y"), ("c", "y"), ("d", "y")] {
      fleet.hello(agent, zone: zone, address: "tcp://192.0.2.1:8080")
    }
    fleet.say("b", 1, "mesh.a", .down)
    fleet.say("c", 1, "mesh.a", .down)
    fleet.say("d", 1, "mesh.a", .unreachable)
    fleet.say("a", 1, "mesh.b", .up)
    fleet.say("a", 2, "db", .up)
    try fleet.waitUntil { $0.fold.nodes["a"]?.highWater == 2 }
    let reached = try #require(try fleet.ask("/fleet/agents/a").object()["reached"] as? [String: Any])
    #expect(reached["verdict"] as? String == "down")
    #expect(reached["downFrom"] as? [String] == ["b", "c"])
    #expect((reached["votes"] as? [String: Int])?["unreachable"] == 1)
    #expect(try (fleet.ask("/fleet/matrix?of=agents").object()["cells"] as? [Any])?.count == 4)
    #expect(try (fleet.ask("/fleet/matrix?of=targets").object()["cells"] as? [Any])?.count == 1)
    #expect(try (fleet.ask("/fleet/matrix?zone=x").object()["cells"] as? [Any])?.count == 2)
    let groups = try fleet.ask("/fleet/matrix?group=zone", ["Accept": "text/csv"]).text
    #expect(
      groups == "of,from,to,up,down,unreachable,unknown,paused\r\n"
        + "agents,y,x,0,2,1,0,0\r\nagents,x,y,1,0,0,0,0\r\ntargets,x,db,1,0,0,0,0\r\n")
    let first = try fleet.ask("/fleet/matrix?group=zone&limit=2").object()
    #expect(first["next"] as? String == "agents:y:x")
    let rest = try fleet.ask("/fleet/matrix?group=zone&cursor=agents:y:x").object()
    #expect((rest["groups"] as? [[String: Any]])?.map { $0["of"] as? String } == ["targets"])
    for query in ["of=x", "group=x", "group=zone&state=up", "zone"] {
      #expect(try fleet.ask("/fleet/matrix?\(query)").status == (query == "zone" ? 200 : 400), "\(query)")
    }
  }

  @Test("A lost agent is forgotten on request, a present one is not")
  func deletion() throws {
    let fleet = try FleetFixture()
    for agent in ["a", "b"] { fleet.hello(agent) }
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432"}"#).status == 201)
    try fleet.waitUntil { $0.fold.targets["db"]?.assigned == ["a", "b"] }
    #expect(try fleet.ask("/fleet/agents/b", method: "DELETE").status == 401, "it needs the scope admin")
    #expect(try fleet.ask("/fleet/agents/b", fleet.admin, method: "DELETE").status == 409)
    #expect(try fleet.ask("/fleet/agents/x", fleet.admin, method: "DELETE").status == 404)
    let hello = try #require(fleet.services[0].snapshot.fold.nodes["b"])
    fleet.engine.publish(
      .node(
        NodeMessage(
          id: "b",
          .lost(hello: hello.helloSequence, attributes: NodeHello(role: .agent, version: "1"), by: "r0"))))
    try fleet.waitUntil { $0.fold.nodes["b"]?.state == .lost }
    #expect(try (fleet.ask("/fleet/agents?state=lost").object()["agents"] as? [[String: Any]])?.count == 1)
    #expect(try fleet.ask("/fleet/agents?state=left").status == 400)
    #expect(try fleet.ask("/fleet/agents/b", fleet.admin, method: "DELETE").status == 204)
    #expect(try fleet.ask("/fleet/agents/b").status == 404)
    try fleet.waitUntil { $0.fold.targets["db"]?.assigned == ["a"] }
  }

  @Test("A request waits for other votes, at any replica")
  func longPoll() throws {
    let fleet = try FleetFixture()
    fleet.hello("a")
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432"}"#).status == 201)
    try fleet.waitUntil { $0.fold.targets["db"]?.assigned == ["a"] }
    let tag = try #require(try fleet.ask("/fleet/targets/db").headers["ETag"])
    #expect(try fleet.ask("/fleet/targets/db", ["If-None-Match": tag], replica: 1).status == 304)
    let request = HTTPRequest(
      method: "GET", target: "/fleet/targets/db?wait=1m", headers: ["Host": "127.0.0.1:8080", "If-None-Match": tag],
      isLoopbackListener: true)
    guard case .wait(let wait) = fleet.replicas[1].router.handle(request) else {
      Issue.record("the request does not wait")
      return
    }
    let inbox = try HTTPServerInbox()
    let cancel = wait.begin(HTTPPromise(inbox: inbox, connection: 1, request: 1))
    defer { cancel() }
    #expect(inbox.take().messages.isEmpty)
    fleet.say("a", 1, "db", .up)
    var status: Int?
    let isAnswered = eventually {
      for case .reply(_, _, let response) in inbox.take().messages { status = response?.status }
      return status != nil
    }
    #expect(isAnswered && status == 200)
    try fleet.waitUntil { $0.fold.targets["db"]?.verdict?.message.to == .up }
    let list = try #require(try fleet.ask("/fleet/targets").headers["ETag"])
    #expect(try fleet.ask("/fleet/targets", ["If-None-Match": list]).status == 304)
    #expect(try (fleet.ask("/fleet/targets?verdict=down").object()["targets"] as? [Any])?.isEmpty == true)
    #expect(try fleet.ask("/fleet/targets?verdict=x").status == 400)
  }

  @Test("Results of a check are lines as they arrive")
  func lines() throws {
    let fleet = try FleetFixture()
    for agent in ["a", "b"] { fleet.hello(agent) }
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432"}"#).status == 201)
    let response = try fleet.ask(
      "/fleet/checks", ["Accept": "application/x-ndjson"], method: "POST", body: #"{"target":"db"}"#)
    #expect(response.headers["Content-Type"] == "application/x-ndjson")
    let isComplete = eventually { response.text.split(separator: "\n").count == 2 }
    #expect(isComplete)
    #expect(response.text.contains(#"{"agent":"b","state":"unknown","reason":"agentSilent"}"#))
  }

  @Test("A replica has metrics of verdicts, agents and pairs of zones")
  func metrics() throws {
    let fleet = try FleetFixture()
    for agent in ["a", "b"] { fleet.hello(agent, zone: "z\(agent)", address: "tcp://192.0.2.1:8080") }
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432"}"#).status == 201)
    for agent in ["a", "b"] { fleet.say(agent, 1, "db", .down) }
    fleet.say("a", 2, "mesh.b", .up)
    try fleet.waitUntil { $0.fold.targets["db"]?.verdict?.message.to == .down && $0.fold.nodes["a"]?.highWater == 2 }
    let text = try fleet.ask("/metrics").text
    for line in [
      "reachd_fleet_connected 1", "reachd_fleet_replicas 2", #"reachd_fleet_verdicts{verdict="down"} 1"#,
      #"reachd_fleet_target_info{id="db",verdict="down"} 1"#,
      #"reachd_fleet_agent_info{agent="b",zone="zb",state="present",reached="up"} 1"#,
      #"reachd_fleet_zone_pairs{from="za",to="zb",state="up"} 1"#,
    ] { #expect(text.contains(line + "\n"), "\(line)") }
  }

  @Test("An agent sends heartbeats of itself only, and those of unknown agents are not kept")
  func foreignHeartbeats() throws {
    let fleet = try FleetFixture()
    for agent in ["a", "b"] { fleet.hello(agent) }
    try fleet.waitUntil { $0.fold.nodes["b"]?.state == .present }
    func send(_ agent: String, on subject: String) {
      let heartbeat = HeartbeatMessage(agent: agent, instance: 1, outbox: 7, hello: 0)
      fleet.engine.send(FleetWire.encode(heartbeat), on: .heartbeat(subject))
    }
    send("b", on: "a")
    send("x", on: "x")
    send("a", on: "a")
    try fleet.waitUntil { $0.outbox(of: "a") == 7 }
    for service in fleet.services { #expect(["b", "x"].allSatisfy { service.snapshot.outbox(of: $0) == nil }) }
  }

  @Test("After the first failed check of an agent, one replica asks the other agents to check the target")
  func suspicion() throws {
    let fleet = try FleetFixture()
    for agent in ["a", "b"] { fleet.hello(agent) }
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432"}"#).status == 201)
    try fleet.waitUntil { $0.fold.targets["db"]?.assigned == ["a", "b"] }
    let asked = Locked<[String]>([])
    let subscription = fleet.engine.subscribe("rx2.ask.*", group: nil) { message in
      guard let request = FleetWire.request(message.payload) else { return }
      asked.withLock { $0.append("\(message.subject) \(request)") }
    }
    defer { subscription.cancel() }
    func send(_ suspects: [String], outbox: Int = 0) {
      let heartbeat = HeartbeatMessage(agent: "a", instance: 1, outbox: outbox, hello: 0, suspects: suspects)
      fleet.engine.send(FleetWire.encode(heartbeat), on: .heartbeat("a"))
    }
    send(["db"])
    #expect(eventually { asked.withLock { !$0.isEmpty } })
    send(["db", "x"], outbox: 1)
    try fleet.waitUntil { $0.outbox(of: "a") == 1 }
    #expect(asked.withLock(\.self) == [#"rx2.ask.b check(targets: ["db"])"#])
  }

  @Test("A target without agents, or with too few votes, says so before its first verdict")
  func reasons() throws {
    let fleet = try FleetFixture()
    let body = #"{"target":"tcp://192.0.2.9:5432","place":{"select":{"rack":"7"}}}"#
    #expect(try fleet.put("db", body).status == 201)
    #expect(try fleet.ask("/fleet/targets/db").object()["reason"] as? String == "unassigned")
    fleet.hello("a")
    #expect(try fleet.put("web", #"{"target":"tcp://192.0.2.9:80"}"#).status == 201)
    #expect(try fleet.ask("/fleet/targets/web").object()["reason"] as? String == "tooFewVotes")
  }

  @Test("A page of groups follows a group that is gone, and another cursor is an error")
  func cursors() throws {
    let fleet = try FleetFixture()
    for (number, agent) in ["a", "b", "c"].enumerated() {
      fleet.hello(agent, zone: "z\(number)")
      fleet.say(agent, 1, "db", .up)
    }
    try fleet.waitUntil { $0.fold.nodes["c"]?.cells["db"] != nil }
    let page = try fleet.ask("/fleet/matrix?group=zone&limit=1").object()
    #expect(page["next"] as? String == "targets:db:z0")
    let rest = try fleet.ask("/fleet/matrix?group=zone&cursor=targets:db:z00").object()
    #expect((rest["groups"] as? [[String: Any]])?.compactMap { $0["from"] as? String } == ["z1", "z2"])
    #expect(try fleet.ask("/fleet/matrix?group=zone&cursor=zz").status == 400)
    #expect(try fleet.ask("/fleet/matrix?cursor=zz").status == 400)
  }

  @Test("Messages say what is known: members of a target and of a check, and the kind of an id")
  func messages() throws {
    let fleet = try FleetFixture()
    #expect(
      try fleet.put("db", #"{"target":"tcp://192.0.2.9:1","nope":1}"#).text.contains("paused, dependsOn, place, quorum")
    )
    #expect(try fleet.ask("/fleet/checks", method: "POST", body: #"{"target":"db","nope":1}"#).status == 422)
    #expect(try fleet.ask("/fleet/events?agent=UP").text.contains("invalid agent id"))
  }

  @Test("A subscriber that connects before the stream is found waits, and continues from its first message")
  func firstMessage() throws {
    let fleet = try FleetFixture()
    let service = FleetService(
      id: "r9", hello: NodeHello(role: .replica, version: "1"), engine: fleet.engine, members: fleet.engine,
      logger: .silent)
    #expect(service.subscribe(after: nil).resume == .wait)
    service.start()
    #expect(eventually { service.snapshot.isComplete })
    let start = FleetEventID(epoch: service.snapshot.fold.epoch, number: 0, check: 0)
    #expect(service.subscribe(after: start).resume == .replay)
    let other = FleetEventID(epoch: start.epoch &+ 1, number: 0, check: 0)
    #expect(service.subscribe(after: other).resume == .gap(.otherHistory))
  }
}
