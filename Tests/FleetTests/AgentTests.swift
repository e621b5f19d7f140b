import Glibc
import JetStream
import NATSClient
import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

@Suite("Agents of a fleet", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct AgentTests {
  @Test(
    "An agent says hello, checks what is placed on it, and publishes its changes",
    arguments: NATSServer.Version.allCases)
  func membership(_ version: NATSServer.Version) throws {
    let fixture = try FleetFixture(version)
    let connection = try fixture.connect()
    _ = try FleetFixture.makeStream(connection)
    try FleetFixture.define(20, connection)
    let record = StreamRecord()
    let consumer = JetStreamOrderedConsumer(connection, stream: FleetSubject.stream, from: 1) { record.add($0) }
    defer { consumer.cancel() }
    let agent = try fixture.startAgent()
    #expect(eventually { record.nodes("node1").contains { if case .hello = $0 { true } else { false } } })
    #expect(eventually { Set(record.changes("node1").filter { $0.cell?.state == .up }.map(\.target)).count == 20 })
    try fixture.flap(5)
    let last = try agent.lastChange()
    #expect(eventually { record.published("node1") >= last }, "\(record.published("node1")) of \(last)")
    #expect(record.faults("node1") == [])
    #expect(record.changes("node1").count >= 20 + 2 * 20, "the cable had an effect")
    let reply = try connection.ask(
      "rx2.ask.node1", FleetRequests.check(["t1"]), replyPrefix: FleetReplySubject.answers, within: .seconds(5))
    #expect(FleetRequests.results(reply.payload)?.map(\.target) == ["t1"])
    agent.child.kill(SIGTERM)
    #expect(try agent.child.wait() == .exited(0))
    #expect(eventually { record.nodes("node1").last == .bye })
  }

  @Test(
    "Nothing is lost or repeated when the engine is killed and when it is wiped", arguments: NATSServer.Version.allCases
  )
  func killAndWipe(_ version: NATSServer.Version) throws {
    let fixture = try FleetFixture(version)
    let connection = try fixture.connect()
    _ = try FleetFixture.makeStream(connection)
    try FleetFixture.define(20, connection)
    let agent = try fixture.startAgent()
    let first = StreamRecord()
    let reader = JetStreamOrderedConsumer(connection, stream: FleetSubject.stream, from: 1) { first.add($0) }
    #expect(eventually { Set(first.changes("node1").map(\.target)).count == 20 })
    fixture.server.kill()
    // The cable is not needed for the engine, which listens on the loopback interface.
    try fixture.flap(5)
    #expect(try agent.get("/readyz?verbose").contains("fleet"), "a warning while the engine is away")
    try fixture.namespace.run("/usr/bin/curl", ["-sf", "--max-time", "5", "http://\(agent.address)/readyz"])
    try fixture.server.start()
    reader.restart()
    let last = try agent.lastChange()
    #expect(eventually(within: .seconds(30)) { first.published("node1") >= last })
    // The agent knows it, too: it marks only what it knows to be published.
    #expect(try eventually { try agent.get("/metrics").contains("\nreachd_fleet_outbox_events 0\n") })
    #expect(first.faults("node1") == [])
    reader.cancel()
    let before = first.changes("node1").map(\.number)
    // Everything that was acknowledged is gone.
    fixture.server.kill()
    fixture.server.wipe()
    try fixture.flap(2)
    try fixture.server.start()
    #expect(eventually { connection.isConnected })
    _ = try FleetFixture.makeStream(connection)
    let second = StreamRecord()
    let again = JetStreamOrderedConsumer(connection, stream: FleetSubject.stream, from: 1) { second.add($0) }
    defer { again.cancel() }
    let end = try agent.lastChange()
    #expect(eventually(within: .seconds(30)) { second.published("node1") >= end })
    #expect(second.faults("node1") == [])
    #expect(Set(before).isSubset(of: Set(second.changes("node1").map(\.number))), "published again")
    let repeated = second.agentMessages("node1").compactMap { message -> AgentChangeBatch? in
      if case .changes(let batch) = message.content { batch } else { nil }
    }
    // What subscribers have had is marked, and nothing else is.
    let marked = repeated.filter(\.again).flatMap(\.changes).map(\.number)
    #expect(Set(marked) == Set(before))
    #expect(eventually { second.nodes("node1").contains { if case .hello = $0 { true } else { false } } })
  }

  @Test("An agent that is killed while it publishes continues without loss or repetition")
  func agentKills() throws {
    let fixture = try FleetFixture(.latest)
    let connection = try fixture.connect()
    _ = try FleetFixture.makeStream(connection)
    try FleetFixture.define(20, connection)
    let record = StreamRecord()
    let consumer = JetStreamOrderedConsumer(connection, stream: FleetSubject.stream, from: 1) { record.add($0) }
    defer { consumer.cancel() }
    let kills = Program.environmentVariable("REACHD_FLEET_KILLS").flatMap { Int($0) } ?? 4
    var agent = try fixture.startAgent()
    #expect(eventually { Set(record.changes("node1").map(\.target)).count == 20 })
    for number in 0..<kills {
      try fixture.namespace.ip("link set d0 \(number.isMultiple(of: 2) ? "down" : "up")")
      pause(.milliseconds(Int.random(in: 10...60)), because: "the kill meets any step of the publication")
      agent.child.kill()
      _ = try agent.child.wait()
      agent = try fixture.startAgent()
    }
    try fixture.namespace.ip("link set d0 up")
    #expect(eventually { (try? agent.get("/targets?state=up").contains("t20")) == true })
    let last = try agent.lastChange()
    #expect(eventually { record.published("node1") >= last })
    #expect(record.faults("node1") == [])
  }

  @Test("The second agent of one id ends with 69")
  func duplicate() throws {
    let fixture = try FleetFixture(.latest)
    let connection = try fixture.connect()
    _ = try FleetFixture.makeStream(connection)
    let first = try fixture.startAgent(data: false)
    #expect(
      eventually {
        (try? connection.ask(
          "rx2.ask.node1", FleetRequests.ping, replyPrefix: FleetReplySubject.answers, within: .seconds(1))) != nil
      })
    let second = try fixture.startAgent(data: false)
    #expect(try second.child.wait() == .exited(69))
    #expect(second.child.errors.contains("another agent with the id node1"))
    #expect(first.child.poll() == nil)
  }

  @Test("An agent without the engine checks what it checked before")
  func withoutEngine() throws {
    let fixture = try FleetFixture(.debian)
    let connection = try fixture.connect()
    _ = try FleetFixture.makeStream(connection)
    try FleetFixture.define(3, connection)
    let first = try fixture.startAgent()
    #expect(eventually { (try? first.get("/targets").contains("\"t3\"")) == true })
    fixture.server.kill()
    first.child.kill(SIGTERM)
    #expect(try first.child.wait() == .exited(0))
    let second = try fixture.startAgent()
    #expect(try second.get("/targets/t3").contains("\"origin\":\"fleet\""))
    #expect(try second.get("/metrics").contains("reachd_fleet_connected 0"))
    try fixture.server.start()
    #expect(eventually { (try? second.get("/metrics").contains("reachd_fleet_connected 1")) == true })
  }

  @Test("An agent keeps its store in a linked directory")
  func linkedDirectory() throws {
    let fixture = try FleetFixture(.debian)
    let store = try TemporaryDirectory()
    #expect(unsafe symlink(store.path, fixture.directory.path + "/node1") == 0)
    let first = try fixture.startAgent()
    func epoch(of agent: Member) -> Substring? {
      agent.child.errors.split(separator: " ").first { $0.hasPrefix("epoch=") }
    }
    #expect(eventually { epoch(of: first) != nil })
    let epoch = try #require(epoch(of: first))
    first.child.kill(SIGTERM)
    #expect(try first.child.wait() == .exited(0))
    #expect(store.names.contains("reachd.db"))
    let second = try fixture.startAgent()
    #expect(eventually { second.child.errors.contains(epoch) }, "\(second.child.errors)")
  }
}
