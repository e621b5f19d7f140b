import FleetAPI
import JetStream
import Locks
import ReachabilityFleet
import ReachabilityModel
import TestSupport
import Testing

/// A router with targets behind it, in a fleet of five agents.
@Suite("A router of a fleet", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct FleetRouterCutTests {
  private static let count = 100
  /// How often the router is cut: once, unless the long tests ask for more.
  private static let runs = Program.environmentVariable("REACHD_CUTS").flatMap { Int($0) } ?? 1
  /// A server that accepts connections to all addresses.
  private static let listener = """
    import socket
    listener = socket.create_server(("0.0.0.0", 5432), backlog=4096)
    print("ready", flush=True)
    while True: listener.accept()[0].close()
    """

  /// The definitions: the router's own check finds the cut long after those of the targets behind it.
  private static var definitions: [DefinitionMessage] {
    let children = (0..<count).map { number in
      definition("s\(number)", "10.8.0.\(number + 1)", interval: .seconds(2), [TargetDependency("router")])
    }
    return [definition("router", "10.77.0.100", interval: .seconds(20))] + children
  }

  private static func definition(
    _ id: String, _ address: String, interval: Duration, _ dependsOn: [TargetDependency] = []
  ) -> DefinitionMessage {
    var spec = TargetSpec()
    (spec.id, spec.target) = (id, "tcp://\(address):5432")
    (spec.interval, spec.timeout, spec.fastInterval) = (interval, .milliseconds(800), .milliseconds(500))
    spec.dependsOn = dependsOn
    return DefinitionMessage(id: id, version: 1, definition: FleetTarget(spec: spec))
  }

  private let fleet: FleetNetwork
  private let router: Namespace
  private let server: Child

  init() throws {
    fleet = try FleetNetwork(
      .latest, servers: 1, agents: 5, settings: "policy: { allow: [10.0.0.0/8] }")
    router = try Namespace()
    try fleet.hub.ip(batch: [
      "link add u0 type veth peer name eth0 netns \(router.path)", "link set u0 master br0 up",
    ])
    try router.ip(batch: [
      "link set lo up", "addr add 10.77.0.100/24 dev eth0", "link set eth0 up", "route add local 10.8.0.0/24 dev lo",
    ])
    server = try router.spawnService("/usr/bin/python3", ["-c", Self.listener])
    for index in 0..<5 {
      let route = try fleet.spawn(
        .agent(index), "/usr/sbin/ip", ["route", "add", "10.8.0.0/24", "via", "10.77.0.100"])
      #expect(try route.wait() == .exited(0))
    }
  }

  @Test("Cut for all agents, it is one down and all behind it are unreachable; restored, all are up")
  func cut() throws {
    #expect(eventually { server.output.contains("ready") })
    for message in Self.definitions {
      _ = try fleet.connection.publish(
        "\(FleetSubject.target(message.id))", FleetWire.encode(.definition(message)), expecting: nil,
        within: .seconds(5))
    }
    let all = ["router"] + (0..<Self.count).map { "s\($0)" }
    try expect(all, "up")
    for _ in 0..<Self.runs {
      let before = try audit().verdicts.count
      try fleet.hub.ip("link set u0 down")
      try expect(["router"], "down")
      try expect(Array(all.dropFirst()), "unreachable")
      let cut = try audit().verdicts.count
      try fleet.hub.ip("link set u0 up")
      try expect(all, "up")
      let audit = try audit()
      #expect(audit.faults == [])
      let outage = audit.verdicts[before..<cut].filter { all.contains($0.target) && $0.to != .partial }
      #expect(outage.count { $0.to == .down } == 1 && outage.first { $0.to == .down }?.target == "router")
      #expect(outage.count == all.count, "\(outage.map { "\($0.target) \($0.to)" }.sorted())")
      #expect(
        outage.allSatisfy { $0.target == "router" || $0.reason == .dependencyDown && $0.dependency == "router" })
      let recovery = audit.verdicts[cut...].filter { all.contains($0.target) && $0.to != .partial }
      #expect(recovery.allSatisfy { $0.to == .up }, "\(recovery.map { "\($0.target) \($0.to)" }.sorted())")
      #expect(Set(recovery.map(\.target)) == Set(all))
    }
  }

  /// Waits until targets have a verdict.
  private func expect(_ ids: [String], _ verdict: String, _ location: SourceLocation = #_sourceLocation) throws {
    var missing = ids
    let isReached = eventually(within: .seconds(90)) {
      guard let page = try? JSONValue(fleet.replicas[0].get("/fleet/targets?limit=1000")) else { return false }
      let found = (page["targets"]?.elements ?? []).filter { $0["verdict"]?.text == verdict }
      missing = Array(Set(ids).subtracting(found.compactMap { $0["id"]?.text }))
      return missing.isEmpty
    }
    let texts = missing.prefix(3).compactMap { try? fleet.replicas[0].get("/fleet/targets/\($0)") }
    #expect(isReached, "\(missing.count) are not \(verdict): \(texts)", sourceLocation: location)
  }

  /// Reads the whole stream.
  private func audit() throws -> StreamAudit {
    let state = try fleet.connection.stream(FleetSubject.stream, within: .seconds(5))
    let messages = Locked<[JetStreamMessage]>([])
    let consumer = JetStreamOrderedConsumer(fleet.connection, stream: FleetSubject.stream, from: 1) { delivery in
      if case .message(let message, _) = delivery { messages.withLock { $0.append(message) } }
    }
    defer { consumer.cancel() }
    #expect(eventually(within: .seconds(30)) { messages.withLock { $0.last?.sequence ?? 0 } >= state.lastSequence })
    return StreamAudit(messages.withLock(\.self), created: state.created)
  }
}
