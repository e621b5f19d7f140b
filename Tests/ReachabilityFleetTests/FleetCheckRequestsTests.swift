import ReachabilityModel
import Testing

@testable import ReachabilityFleet

@Suite("Checks after the first failure")
struct FleetCheckRequestsTests {
  /// This replica is `r`; the agents `a`, `b` and `c` check every target.
  var replica = FleetReplica(id: "r", attributes: NodeHello(role: .replica, version: "1"))
  var now = Duration.seconds(100)
  var sequence: UInt64 = 0

  init() {
    _ = replica.handle(.connection(true), at: now)
    _ = replica.handle(.streamState(FleetEngineStreamState(created: 1, first: 1, last: 5), since: 0), at: now)
    hello("r", .replica, pending: 4)
    for (place, agent) in ["a", "b", "c"].enumerated() { hello(agent, .agent, pending: UInt64(3 - place)) }
    define("db")
  }

  private mutating func deliver(_ message: FleetMessage, pending: UInt64 = 0) {
    sequence += 1
    let stored = FleetEngineStoredMessage(
      subject: "\(message.subject)", sequence: sequence, time: Int64(sequence), payload: [UInt8(sequence % 256)])
    _ = replica.handle(.message(message, stored, pending: pending), at: now)
  }

  private mutating func hello(_ id: String, _ role: NodeHello.Role, pending: UInt64 = 0) {
    deliver(.node(NodeMessage(id: id, .hello(NodeHello(role: role, version: "1"), restates: false))), pending: pending)
  }

  private mutating func lose(_ id: String) {
    let lost = NodeMessage.Content.lost(
      hello: replica.fold.nodes[id]?.helloSequence ?? 0,
      attributes: replica.fold.nodes[id]?.hello ?? NodeHello(role: .agent, version: "1"), by: "r")
    deliver(.node(NodeMessage(id: id, lost)))
  }

  private mutating func define(_ id: String, _ placement: FleetPlacement = FleetPlacement()) {
    var spec = TargetSpec()
    spec.id = id
    spec.target = "tcp://\(id):1"
    let target = FleetTarget(spec: spec, placement: placement)
    deliver(.definition(DefinitionMessage(id: id, version: 1, definition: target)))
  }

  /// The requests after an agent has suspected targets: `b db other`.
  private mutating func suspect(_ targets: [String], by agent: String = "a") -> [String] {
    replica.handle(.suspected(targets, by: agent), at: now).compactMap { effect in
      guard case .requestChecks(let agent, let targets) = effect else { return nil }
      return ([agent] + targets).joined(separator: " ")
    }
  }

  @Test("The other agents are asked, once for each target while its checks follow each other")
  mutating func pause() {
    define("other")
    #expect(suspect(["db"]) == ["b db", "c db"])
    now += .seconds(1)
    #expect(suspect(["db", "other"], by: "b") == ["a other", "c other"], "the failures that follow ask no agent")
    now += FleetLimits.suspicionPause - .seconds(1)
    #expect(suspect(["db"]) == ["b db", "c db"])
    #expect(suspect(["db", "db"]) == [])
  }

  @Test("Lost agents are not asked, and what they or others without the target suspect has no effect")
  mutating func absent() {
    define("none", FleetPlacement(select: ["env": "none"]))
    #expect(suspect(["db"], by: "x") == [])
    #expect(suspect(["none", "unknown", "mesh.b"]) == [])
    lose("b")
    #expect(suspect(["db"], by: "b") == [])
    #expect(suspect(["db"]) == ["c db"])
    lose("c")
    now += FleetLimits.suspicionPause
    #expect(suspect(["db"]) == [], "no other agent is present")
  }

  @Test("The first replica of the target's ranking asks; the next one when that one is lost")
  mutating func rank() throws {
    // One that precedes this replica.
    let other = try #require(
      (0..<100).map { "r\($0)" }.first { FleetRendezvousHash.order(["r", $0], for: "db").first == $0 })
    hello(other, .replica)
    #expect(suspect(["db"]) == [])
    lose(other)
    #expect(suspect(["db"]) == ["b db", "c db"])
  }

  @Test("A replica that is not connected, or has not read everything, sends no request")
  mutating func incomplete() {
    _ = replica.handle(.interrupted, at: now)
    #expect(suspect(["db"]) == [])
  }

  @Test("The targets of a heartbeat and of a second are limited")
  mutating func limits() {
    let ids = (0..<200).map { "t\($0)" }
    for id in ids { define(id) }
    var asked: [Int] = []
    for start in stride(from: 0, to: 200, by: 50) {
      let requests = suspect(Array(ids[start..<start + 50]))
      asked.append(requests.first?.split(separator: " ").dropFirst().count ?? 0)
    }
    let perMessage = FleetLimits.suspectsPerHeartbeat
    #expect(asked == [perMessage, perMessage, 0, 0] && FleetLimits.suspicionsPerSecond == 2 * perMessage)
    now += .seconds(1)
    #expect(suspect(["t199"]).count == 2, "the next second")
  }

  @Test("An agent names each suspect once, the first ones immediately, and a limited number at a limited rate")
  func suspects() {
    var suspects = FleetSuspects()
    #expect(suspects.add("mesh.b", at: now) == nil)
    #expect(suspects.add("t0", at: now) == now)
    for number in 0..<100 { #expect(suspects.add("t\(number)", at: now) == nil) }
    #expect(suspects.take(at: now) == (0..<FleetLimits.suspectsPerHeartbeat).map { "t\($0)" })
    #expect(suspects.add("t99", at: now) == now + FleetLimits.suspicionInterval)
    #expect(suspects.take(at: now + .seconds(1)) == ["t99"])
    #expect(suspects.add("t99", at: now + .seconds(3)) == now + .seconds(3))
  }
}
