import Credentials
import Dispatch
import JSONFormat
import Locks
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import ReachabilityFleet
import TestSupport
import Testing
import Webhooks

@testable import FleetAPI
@testable import StatusAPI

/// Two replicas that send one webhook, and its receiver.
private final class WebhookFleet: Sendable {
  let engine = MemoryEngine()
  let services: [FleetService]
  let replicas: [ScriptedService]
  private let hooks: [FleetWebhooks]
  private let received = Received()
  private let number = Locked<UInt64>(0)
  private let queue = DispatchQueue(label: "heartbeats")

  /// The requests of both replicas, in their order, by the replica.
  private final class Received: Sendable {
    let messages = Locked<[(replica: Int, id: String, body: String)]>([])
  }

  init(filter: WebhookFilter = WebhookFilter()) throws {
    let (engine, received) = (engine, received)
    let hooks = (0..<2).map { _ in FleetWebhooks() }
    self.hooks = hooks
    replicas = try (0..<2).map { number in
      let prober = ScriptedProber { request in
        if let options = request.module.options[HTTPOptions.self] {
          let id = options.headers.first { $0.name == "webhook-id" }?.value ?? ""
          received.messages.withLock { $0.append((number, id, options.body ?? "")) }
        }
        var evidence = CheckResult.Evidence()
        evidence.http = CheckResult.HTTP(status: 204, version: "1.1")
        return CheckResult(.up, startedAt: Timestamp(microseconds: 0), duration: .zero, evidence: evidence)
      }
      return try ScriptedService(
        .wired,
        webhooks: {
          WebhookSetup(
            .other(hooks[number], hooks[number], machine: "fleet"), checker: Checker(monitor: $0, prober: prober))
        })
    }
    services = (0..<2).map { number in
      FleetService(
        id: "r\(number)", hello: NodeHello(role: .replica, version: "1"), engine: engine, members: engine,
        logger: .silent)
    }
    let secret = try #require(SigningSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
    let definition = WebhookDefinition(
      id: "ops", url: try CheckTarget("https://10.0.0.9/"), secrets: [secret], filter: filter,
      // The events of the engine in memory have an old time.
      maximumAge: .seconds(100 * 365 * 86_400))
    for number in 0..<2 {
      hooks[number].attach(services[number], replicas[number].service.webhooks)
      replicas[number].service.webhooks?.configure([definition])
      replicas[number].service.webhooks?.start()
      services[number].start()
    }
    for agent in ["a", "b", "c"] {
      engine.publish(.node(NodeMessage(id: agent, .hello(NodeHello(role: .agent, version: "1"), restates: false))))
    }
    var spec = TargetSpec()
    spec.id = "db"
    spec.target = "tcp://db:5432"
    spec.labels = ["env": "prod"]
    engine.publish(.definition(DefinitionMessage(id: "db", version: 1, definition: FleetTarget(spec: spec))))
    beat()
    try #require(eventually { owner != nil }, "no replica sends")
  }

  /// The agents are present.
  private func beat() {
    for agent in ["a", "b", "c"] {
      engine.send(
        FleetWire.encode(HeartbeatMessage(agent: agent, instance: 1, outbox: 0, hello: 0)), on: .heartbeat(agent))
    }
    queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.beat() }
  }

  /// The replica that sends.
  var owner: Int? {
    let states = replicas.map { $0.service.webhooks?.report("ops")?.state }
    guard let first = states.firstIndex(of: .idle), states.count(where: { $0 == .idle }) == 1 else { return nil }
    return first
  }

  var messages: [(replica: Int, id: String, body: String)] { received.messages.withLock { $0 } }

  /// All agents say something; returns the id of the verdict that follows.
  func vote(_ state: TargetState, _ verdict: FleetVerdict) throws -> String {
    let number = number.withLock { number in
      number += 1
      return number
    }
    for agent in ["a", "b", "c"] {
      let cell = FleetCellState(state, state == .up ? nil : .noRoute, since: Timestamp(microseconds: 0))
      let change = FleetCellChange(
        number: number, target: "db", old: .unknown, cell: cell, time: Timestamp(microseconds: 0))
      engine.publish(
        .agent(
          AgentMessage(
            agent: agent, epoch: "e", after: 0,
            .changes(AgentChangeBatch(prev: number - 1, from: number, to: number, changes: [change])))))
    }
    var id: String?
    let isDecided = eventually {
      let state = services[0].snapshot
      id = state.fold.targets["db"]?.verdict.flatMap { accepted in
        accepted.message.to == verdict
          ? FleetEventID(epoch: state.fold.epoch, number: accepted.sequence * 256, check: 0) : nil
      }.map { String($0.description.dropLast(9)) }
      return id != nil
    }
    try #require(isDecided)
    return try #require(id)
  }

  /// The number of deliveries of an event.
  func deliveries(_ id: String) -> Int { messages.count { $0.id.hasPrefix(id + "-") } }

  func stop(_ number: Int) {
    replicas[number].service.webhooks?.stop()
    services[number].stop()
  }
}

@Suite("Webhooks of a fleet")
struct FleetWebhookTests {
  @Test("One of two replicas delivers each verdict once, and the other one continues after its end")
  func takeover() throws {
    let fleet = try WebhookFleet(filter: WebhookFilter(types: ["verdict"]))
    let owner = try #require(fleet.owner)
    var ids: [String] = []
    for (state, verdict) in [(TargetState.down, FleetVerdict.down), (.up, .up), (.down, .down)] {
      ids.append(try fleet.vote(state, verdict))
    }
    // A vote may cause another verdict before the one that is expected.
    #expect(eventually { ids.allSatisfy { fleet.deliveries($0) == 1 } }, "\(fleet.messages.map(\.id))")
    #expect(Set(fleet.messages.map(\.replica)) == [owner])
    let first = fleet.messages.first { $0.id.hasPrefix(ids[0] + "-") }
    let body = try JSONValue(try #require(first?.body))
    #expect(body["source"]?.text == "urn:reachd:fleet" && body["type"]?.text == "reachd.verdict")
    #expect(body["subject"]?.text == "target:db" && body["data"]?["verdict"]?.text == "down")
    fleet.stop(owner)
    // While no replica sends.
    let later = try fleet.vote(.up, .up)
    #expect(eventually { fleet.deliveries(later) == 1 }, "\(fleet.messages.map(\.id))")
    #expect(fleet.messages.first { $0.id.hasPrefix(later + "-") }?.replica == 1 - owner)
    // The other replica may repeat what was delivered when the first one ended, with the same id, but loses nothing.
    for id in ids {
      let messages = fleet.messages.map(\.id).filter { $0.hasPrefix(id + "-") }
      #expect(!messages.isEmpty && Set(messages).count == 1, "\(id): \(messages)")
    }
    #expect(fleet.engine.messages("rx2.hook.ops").count >= 4)
  }

  @Test("The filter selects verdicts, agents and labels")
  func filter() throws {
    let fleet = try WebhookFleet(filter: WebhookFilter(states: ["down", "lost", "left"], labels: [:]))
    _ = try fleet.vote(.down, .down)
    _ = try fleet.vote(.up, .up)
    fleet.engine.publish(.node(NodeMessage(id: "c", .bye)))
    #expect(eventually { fleet.messages.count == 2 }, "\(fleet.messages.map(\.body))")
    #expect(fleet.messages.last?.body.contains("agent:c") == true)
    let other = try WebhookFleet(filter: WebhookFilter(types: ["verdict"], labels: ["env": "test"]))
    _ = try other.vote(.down, .down)
    _ = try other.vote(.up, .up)
    #expect(other.messages.isEmpty)
  }

  @Test("After the stream was lost the receiver gets a gap, and then the next verdicts")
  func lostStream() throws {
    let fleet = try WebhookFleet(filter: WebhookFilter(types: ["verdict"]))
    let id = try fleet.vote(.down, .down)
    #expect(eventually { fleet.deliveries(id) == 1 })
    fleet.engine.wipe()
    #expect(eventually { fleet.messages.last?.id.hasSuffix("-gap") == true }, "\(fleet.messages.map(\.id))")
    let gap = try JSONValue(try #require(fleet.messages.last?.body))
    #expect(gap["data"]?["reason"]?.text == "newEpoch")
    #expect(fleet.messages.count == 2)
  }
}
