import EmbeddedHTTPServer
import NetworkReachability
import ReachabilityFleet
import TestSupport
import Testing

@testable import FleetAPI
@testable import HTTPRouting
@testable import StatusAPI

@Suite("FleetEngineHealth")
struct FleetEngineHealthTests {
  private var replica = FleetReplica(id: "r", attributes: NodeHello(role: .replica, version: "1"))
  private var health = FleetEngineHealth(at: .zero)

  private static func seconds(_ number: Int) -> Duration { .seconds(number) }

  /// The stream answers.
  private mutating func contact(at now: Duration) {
    _ = replica.handle(.connection(true), at: now)
    _ = replica.handle(.streamState(FleetEngineStreamState(created: 1, first: 1, last: 0), since: 0), at: now)
  }

  @Test("A contact that is older than five seconds is a problem, by the connection's state")
  mutating func contacts() {
    #expect(health.problem(of: replica, at: Self.seconds(4)) == nil)
    #expect(health.problem(of: replica, at: Self.seconds(6)) == .disconnected)
    contact(at: Self.seconds(10))
    #expect(health.problem(of: replica, at: Self.seconds(15)) == nil)
    #expect(health.problem(of: replica, at: Self.seconds(16)) == .silent)
    #expect(health.age(of: replica, at: Self.seconds(16)) == .seconds(6))
    _ = replica.handle(.connection(false), at: Self.seconds(17))
    #expect(health.problem(of: replica, at: Self.seconds(17)) == .disconnected)
    // A short interruption is none.
    contact(at: Self.seconds(20))
    _ = replica.handle(.connection(false), at: Self.seconds(21))
    #expect(health.problem(of: replica, at: Self.seconds(22)) == nil)
  }

  @Test("Refused publications are a problem until one is stored or none is tried")
  mutating func refusals() {
    contact(at: Self.seconds(10))
    health.published(.full, at: Self.seconds(10))
    #expect(health.problem(of: replica, at: Self.seconds(11)) == .refusing(.full))
    health.published(nil, at: Self.seconds(12))
    #expect(health.problem(of: replica, at: Self.seconds(12)) == nil)
    health.published(.timedOut, at: Self.seconds(12))
    #expect(health.problem(of: replica, at: Self.seconds(13)) == nil, "it may be an election")
    contact(at: Self.seconds(18))
    health.published(.timedOut, at: Self.seconds(18))
    #expect(health.problem(of: replica, at: Self.seconds(18)) == .refusing(.timedOut))
    contact(at: Self.seconds(60))
    #expect(health.problem(of: replica, at: Self.seconds(60)) == nil)
    health.published(.unexpectedLast, at: Self.seconds(60))
    #expect(health.problem(of: replica, at: Self.seconds(60)) == nil, "another replica was first")
    #expect(health.failures == [.full: 1, .timeout: 2, .conflict: 1])
  }

  @Test("The log has one line after ten seconds, and one at the end")
  mutating func reports() {
    contact(at: Self.seconds(10))
    var reports: [String] = []
    for second in 11...40 {
      if second == 30 { contact(at: Self.seconds(30)) }
      switch health.report(of: replica, at: Self.seconds(second)) {
      case .began(let problem, let age): reports.append("\(second) \(problem == .silent) \(age)")
      case .ended(let time): reports.append("\(second) \(time)")
      case nil: break
      }
    }
    // It begins again after 36.
    #expect(reports == ["21 true 11.0 seconds", "30 19.0 seconds"])
    // A problem of some seconds has no line.
    contact(at: Self.seconds(50))
    #expect(health.report(of: replica, at: Self.seconds(50)) == nil)
    #expect(health.report(of: replica, at: Self.seconds(57)) == nil)
    contact(at: Self.seconds(58))
    #expect(health.report(of: replica, at: Self.seconds(58)) == nil)
  }
}

@Suite("FleetHeartbeatTable")
struct FleetHeartbeatTableTests {
  private func message(
    _ agent: String, on subject: String? = nil, outbox: Int = 0, suspects: [String] = []
  ) -> FleetEngineUnstoredMessage {
    let heartbeat = HeartbeatMessage(agent: agent, instance: 1, outbox: outbox, hello: 0, suspects: suspects)
    return FleetEngineUnstoredMessage(
      subject: "\(FleetSubject.heartbeat(subject ?? agent))", payload: FleetWire.encode(heartbeat))
  }

  @Test("Keeps the last heartbeat of each node, and the times since they were taken")
  func times() {
    let table = FleetHeartbeatTable()
    for second in 1...3 { #expect(table.receive(message("a"), at: .seconds(second)) == nil) }
    #expect(table.receive(message("a.b", outbox: 7), at: .seconds(2)) == nil)
    #expect(table.takeArrived() == ["a": .seconds(3), "a.b": .seconds(2)])
    #expect(table.takeArrived().isEmpty)
    #expect(table.outbox(of: "a.b") == 7 && table.outbox(of: "c") == nil)
    #expect(table.receive(message("a.b", outbox: 8), at: .seconds(4)) == nil)
    #expect(table.outbox(of: "a.b") == 8 && table.count == 2)
  }

  @Test("A heartbeat in the name of another node, or one that is not understood, is ignored")
  func foreign() {
    let table = FleetHeartbeatTable()
    #expect(table.receive(message("a", on: "b"), at: .zero) == nil)
    #expect(table.receive(FleetEngineUnstoredMessage(subject: "rx2.hb.a", payload: [1]), at: .zero) == nil)
    #expect(table.count == 0 && table.takeArrived().isEmpty && table.dropped == 0)
    // Also after one that was its own.
    #expect(table.receive(message("a"), at: .zero) == nil)
    #expect(table.receive(message("b", on: "a"), at: .zero) == nil)
    #expect(table.takeArrived().keys.sorted() == ["a"])
  }

  @Test("A heartbeat that is too long is dropped unread and counted; the longest one that an agent sends is not")
  func size() {
    let table = FleetHeartbeatTable()
    let id = String(repeating: "a", count: 63)
    let suspects = (10..<10 + FleetLimits.suspectsPerHeartbeat).map { "\(id.dropLast(2))\($0)" }
    let longest = message(id, outbox: FleetLimits.reportedOutbox, suspects: suspects)
    #expect(table.receive(longest, at: .zero)?.suspects == suspects && table.dropped == 0)
    var padded = message("b")
    padded.payload += [UInt8](repeating: 0x20, count: FleetLimits.heartbeatBytes)
    #expect(table.receive(padded, at: .zero) == nil && table.dropped == 1)
    #expect(table.takeArrived().keys.sorted() == [id])
  }

  @Test("A number of waiting events that no agent has is not understood", arguments: [-1, .min, .max, 1_000_000_001])
  func outbox(_ count: Int) {
    let table = FleetHeartbeatTable()
    #expect(table.receive(message("a", outbox: count), at: .zero) == nil)
    #expect(table.count == 0 && table.outbox(of: "a") == nil)
  }

  @Test("Heartbeats of more nodes than the limit are dropped and counted, until others are gone")
  func limit() {
    let table = FleetHeartbeatTable(limit: 3)
    for id in ["a", "b", "c", "d", "e"] { #expect(table.receive(message(id), at: .zero) == nil) }
    #expect(table.takeArrived().keys.sorted() == ["a", "b", "c"] && table.dropped == 2)
    table.discard { $0 == "a" }
    #expect(table.receive(message("d"), at: .zero) == nil)
    #expect(table.takeArrived().keys.sorted() == ["d"] && table.count == 2 && table.dropped == 2)
  }

  @Test("Suspects are given to the fold each time, at most so many at a time")
  func suspects() {
    let table = FleetHeartbeatTable()
    for _ in 0..<2 {
      #expect(table.receive(message("a", suspects: ["db"]), at: .zero)?.suspects == ["db"])
      table.endSuspicion()
    }
    for _ in 0..<FleetHeartbeatTable.waitingSuspicions {
      #expect(table.receive(message("a", suspects: ["db"]), at: .zero) != nil)
    }
    #expect(table.receive(message("a", suspects: ["db"]), at: .seconds(9)) == nil && table.dropped == 1)
    #expect(table.takeArrived() == ["a": .seconds(9)], "it is a heartbeat nevertheless")
    table.endSuspicion()
    #expect(table.receive(message("a", suspects: ["db"]), at: .zero) != nil)
  }
}

@Suite("Readiness of a replica")
struct FleetReadinessTests {
  @Test("A replica that has had the state serves it without the engine, and says how old it is")
  func outage() throws {
    let fleet = try FleetFixture()
    fleet.hello("a")
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432"}"#).status == 201)
    #expect(try fleet.ask("/readyz").status == 200)
    #expect(try fleet.ask("/readyz?verbose").text.contains("[+] fleet ok"))
    fleet.engine.setConnected(false)
    try fleet.waitUntil { !$0.isComplete }
    #expect(try fleet.ask("/readyz").status == 200)
    #expect(try fleet.ask("/fleet/targets/db").status == 200)
    try fleet.waitUntil { $0.problem != nil }
    #expect(try fleet.ask("/readyz").status == 200)
    let detail = try fleet.ask("/readyz?verbose").text
    #expect(detail.contains("not connected") && detail.contains("s ago"), "\(detail)")
    let engine = try #require(try fleet.ask("/fleet").object()["engine"] as? [String: Any])
    #expect((engine["age"] as? Int).map { $0 >= 5 } == true && engine["connected"] as? Bool == false)
    fleet.engine.setConnected(true)
    try fleet.waitUntil { $0.isComplete && $0.problem == nil }
    #expect(try fleet.ask("/readyz?verbose").text.contains("[+] fleet ok"))
  }

  @Test("A replica that has no state is not ready, also after the stream was lost")
  func noState() throws {
    let fleet = try FleetFixture()
    fleet.engine.fail(.timedOut)
    fleet.engine.wipe()
    try fleet.waitUntil { !$0.isComplete }
    // The earlier stream's state is one until it is known that the stream is lost.
    #expect(try fleet.ask("/readyz").status == 200)
    let late = FleetService(
      id: "r9", hello: NodeHello(role: .replica, version: "1"), engine: fleet.engine, members: fleet.engine,
      logger: .silent)
    var service = try AccessPolicyTests.service(.init(), [])
    service.router = service.service.makeRouter(serving: late)
    late.start()
    #expect(try service.ask("/readyz").status == 503)
    #expect(eventually { late.snapshot.problem != nil })
    #expect(try eventually { try service.ask("/readyz?verbose").text.contains("no quorum") })
  }

  @Test("An engine that answers and does not store is a problem, and the refusals are counted")
  func refusals() throws {
    let fleet = try FleetFixture()
    fleet.engine.fail(.full, reads: false)
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432"}"#).status == 503)
    let detail = try fleet.ask("/readyz?verbose").text
    #expect(try fleet.ask("/readyz").status == 200 && detail.contains("max_file_store"), "\(detail)")
    let metrics = try fleet.ask("/metrics").text
    #expect(metrics.contains(#"reachd_fleet_failed_publications_total{reason="full"} "#))
    #expect(!metrics.contains(#"reachd_fleet_failed_publications_total{reason="full"} 0"#))
    fleet.engine.fail(nil)
    #expect(try fleet.put("db", #"{"target":"tcp://192.0.2.9:5432"}"#).status == 201)
    #expect(try fleet.ask("/readyz?verbose").text.contains("[+] fleet ok"))
  }
}
