import FleetAPI
import Glibc
import JetStream
import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

@Suite("Silence of agents", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct SilenceTests {
  /// A server that accepts connections.
  private static let listener = """
    import socket
    listener = socket.create_server(("10.9.0.2", 5432))
    print("ready", flush=True)
    while True: listener.accept()[0].close()
    """
  private static let killed = 0..<3
  private static let rounds = 3

  /// A target that agents 0 to 2 reach, and 3 and 4 do not.
  private static var definition: DefinitionMessage {
    var spec = TargetSpec()
    spec.id = "db"
    spec.target = "tcp://10.9.0.2:5432"
    spec.interval = .seconds(1)
    spec.fastInterval = .milliseconds(100)
    return DefinitionMessage(id: "db", version: 1, definition: FleetTarget(spec: spec))
  }

  @Test("Three of five agents are killed while two say down: the verdict becomes unknown, and never down")
  func killed() throws {
    let fleet = try FleetNetwork(.latest, servers: 1, agents: 5, settings: "policy: { allow: [10.9.0.0/16] }")
    let listeners = try Self.killed.map { try fleet.spawn(.agent($0), "/usr/bin/python3", ["-c", Self.listener]) }
    defer { withExtendedLifetime(listeners) {} }
    for listener in listeners { #expect(eventually { listener.output.contains("ready") }) }
    _ = try fleet.connection.publish(
      "\(FleetSubject.target("db"))", FleetWire.encode(.definition(Self.definition)), expecting: nil,
      within: .seconds(5))
    for round in 0..<Self.rounds {
      #expect(
        eventually(within: .seconds(40)) {
          let target = try? fleet.replicas[0].get("/fleet/targets/db")
          return target?.contains("\"up\":3,\"down\":2") == true && target?.contains("\"verdict\":\"partial\"") == true
        }, "\((try? fleet.replicas[0].get("/fleet/targets/db")) ?? "")")
      let before = Self.verdicts(fleet).count
      for agent in Self.killed { fleet.agents[agent].child.kill() }
      #expect(eventually { Self.verdicts(fleet).count > before })
      // Every report has come, and what follows from it.
      #expect(
        eventually {
          let lost = (try? fleet.replicas[0].get("/fleet/agents?state=lost")) ?? ""
          return Self.killed.allSatisfy { lost.contains("\"node\($0)\"") }
        })
      pause(.seconds(3), because: "no other verdict may follow")
      #expect(Self.verdicts(fleet)[before...] == [.unknown], "round \(round)")
      for agent in Self.killed {
        pause(.milliseconds(Int.random(in: 0...900)), because: "the heartbeats of agents have other times")
        try fleet.restartAgent(agent)
      }
    }
  }

  private static func verdicts(_ fleet: FleetNetwork) -> [FleetVerdict] {
    fleet.record.messages.compactMap { message in
      if case .verdict(let verdict) = message, verdict.target == "db" { verdict.to } else { nil }
    }
  }
}
