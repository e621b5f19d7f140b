import Glibc
import JetStream
import NATSClient
import ReachabilityFleet
import TestSupport
import Testing

@Suite("Full outbox", .partOfFleetVerb)
struct FullOutboxTests {
  private static let targets = 4_000

  @Test("Beyond its limit only the last change of each target is published, with the number of the others")
  func fullOutbox() throws {
    let fixture = try FleetFixture(.latest)
    let connection = try fixture.connect()
    _ = try FleetFixture.makeStream(connection)
    try FleetFixture.define(Self.targets, connection)
    let record = StreamRecord()
    let consumer = JetStreamOrderedConsumer(connection, stream: FleetSubject.stream, from: 1) { record.add($0) }
    defer { consumer.cancel() }
    let agent = try fixture.startAgent()
    let isComplete = eventually(within: .seconds(60)) {
      Set(record.changes("node1").map(\.target)).count == Self.targets
    }
    #expect(isComplete, "\(agent.child.errors.suffix(2_000))")
    fixture.server.kill()
    let before = record.changes("node1").count
    // Twice the targets' number of changes each.
    for _ in 0..<20 where waiting(agent) < FleetLimits.outboxEvents + 2 * Self.targets {
      for state in ["down", "up"] {
        let last = try agent.lastNumber()
        try fixture.namespace.ip("link set d0 \(state)")
        #expect(eventually { (try? agent.lastNumber()).map { $0 >= last + UInt64(Self.targets) } == true })
      }
    }
    #expect(waiting(agent) > FleetLimits.outboxEvents)
    try fixture.server.start()
    consumer.restart()
    let last = try agent.lastNumber()
    #expect(eventually(within: .seconds(300)) { record.published("node1") >= last })
    // The last change of each target, and what came after the outbox was full for the last time.
    let published = record.changes("node1").count - before
    #expect(published >= Self.targets && published < FleetLimits.outboxEvents, "\(published)")
    #expect(record.faults("node1") == [], "each change begins where the one before ended")
    for target in ["t1", "t\(Self.targets / 2)", "t\(Self.targets)"] {
      let page = try JSONValue(agent.get("/targets/\(target)/history?order=asc&limit=1000"))
      let made = try #require(page["history"]?.elements).count
      let told = record.changes("node1").filter { $0.target == target }.reduce(0) { $0 + $1.skipped + 1 }
      #expect(told == made, "\(target)")
    }
    let metrics = try agent.get("/metrics")
    #expect(metrics.contains("reachd_fleet_missing_events_total 0\n"))
    #expect(metrics.contains("reachd_fleet_outbox_events 0\n"))
  }

  private func waiting(_ agent: Member) -> Int {
    let metrics = (try? agent.get("/metrics")) ?? ""
    let line = metrics.split(separator: "\n").first { $0.hasPrefix("reachd_fleet_outbox_events ") }
    return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? 0
  }
}
