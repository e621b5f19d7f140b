import Glibc
import ReachabilityFleet
import TestSupport
import Testing

/// What a replica shows of an engine that does not work.
@Suite("Operation of a replica", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct OperationTests {
  private static func metric(_ replica: Member, _ name: String) -> Double? {
    let line = (try? replica.get("/metrics"))?.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return line?.split(separator: " ").last.flatMap { Double($0) }
  }

  private static func readiness(_ replica: Member) throws -> (status: String, detail: String) {
    let status = try replica.namespace.run(
      "/usr/bin/curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", "http://\(replica.address)/readyz"])
    return (status, try replica.get("/readyz?verbose"))
  }

  @Test("A cluster without a quorum is reported, and the replica serves its last state")
  func quorum() throws {
    let fleet = try FleetNetwork(.latest, agents: 2, replicas: 1)
    let replica = fleet.replicas[0]
    #expect(eventually { (try? replica.get("/fleet"))?.contains("\"up\":\(FleetNetwork.targets),") == true })
    let targets = try replica.get("/fleet/targets")
    #expect(Self.metric(replica, "reachd_fleet_stream_contact_age_seconds").map { $0 < 5 } == true)
    let leader = try fleet.leader()
    for index in fleet.servers.indices where index != leader { fleet.servers[index].kill() }
    #expect(
      eventually(within: .seconds(40)) {
        Self.metric(replica, "reachd_fleet_stream_contact_age_seconds").map { $0 > 5 } == true
          && Self.metric(replica, "reachd_fleet_connected") == 1
      })
    let (status, detail) = try Self.readiness(replica)
    #expect(status == "200" && detail.contains("no quorum") && detail.contains("s ago"), "\(detail)")
    #expect(try replica.get("/fleet/targets") == targets)
    #expect(eventually { replica.child.errors.contains("the engine of the fleet cannot be used") })
    for index in fleet.servers.indices where index != leader { try fleet.servers[index].start(waits: false) }
    #expect(
      eventually(within: .seconds(60)) { replica.child.errors.contains("the engine of the fleet can be used again") },
      "\(replica.child.errors.suffix(2000))")
    #expect(eventually { (try? Self.readiness(replica))?.detail.contains("[+] fleet ok") == true })
  }

  @Test("An engine that is gone leaves a replica ready that had the state, and not one that begins")
  func gone() throws {
    let fleet = try FleetNetwork(.latest, servers: 1, agents: 1, replicas: 2)
    fleet.servers[0].kill()
    #expect(eventually { (try? Self.readiness(fleet.replicas[0]))?.detail.contains("not connected") == true })
    #expect(try Self.readiness(fleet.replicas[0]).status == "200")
    try fleet.restartReplica(1)
    #expect(try Self.readiness(fleet.replicas[1]).status == "503")
    try fleet.servers[0].start()
    #expect(eventually(within: .seconds(40)) { (try? Self.readiness(fleet.replicas[1]))?.status == "200" })
    #expect(eventually { fleet.replicas[1].child.errors.contains("the state of the fleet is read") })
  }

  @Test("A full disk is reported, until the engine stores again", arguments: NATSServer.Version.allCases)
  func fullDisk(_ version: NATSServer.Version) throws {
    let disk = try SmallDisk(megabytes: 8)
    let fleet = try FleetNetwork(version, servers: 1, agents: 1, replicas: 1, disk: disk)
    let replica = fleet.replicas[0]
    try disk.fill()
    func put() throws -> String {
      try replica.namespace.run(
        "/usr/bin/curl",
        [
          "-s", "-o", "/dev/null", "-w", "%{http_code}", "-X", "PUT", "-H", "Content-Type: application/json", "-d",
          #"{"target":"tcp://10.9.0.2:\#(UInt16.random(in: 1 ... .max))"}"#,
          "http://\(replica.address)/fleet/targets/x",
        ])
    }
    var status = ""
    let isReported = eventually(within: .seconds(60)) {
      status = (try? put()) ?? ""
      return (try? Self.readiness(replica))?.detail.contains("[!] fleet the engine") == true
    }
    #expect(isReported, "\(status) \(fleet.servers[0].log.suffix(1000))")
    #expect(try Self.readiness(replica).status == "200")
    disk.free()
    // Neither version stores again without a restart.
    fleet.servers[0].kill()
    try fleet.servers[0].start()
    #expect(eventually(within: .seconds(60)) { ["200", "201"].contains((try? put()) ?? "") })
    #expect(eventually { (try? Self.readiness(replica))?.detail.contains("[+] fleet ok") == true })
  }

  @Test(
    "Too little room for the stream is an error with the name of the setting", arguments: NATSServer.Version.allCases)
  func room(_ version: NATSServer.Version) throws {
    let namespace = try Namespace()
    let directory = try TemporaryDirectory()
    let server = try NATSServer(version, namespace: namespace, room: "100MB")
    let file = try directory.write(
      """
      listen: 127.0.0.1:0
      drainDelay: 0s
      fleet: { id: replica1, servers: ["\(server.url)"] }
      """, as: "replica1.yaml")
    let replica = try Member(namespace, "replica", file)
    #expect(eventually { replica.child.errors.contains("max_file_store") }, "\(replica.child.errors)")
    pause(.seconds(5), because: "it is tried again every second or two, and reported once")
    #expect(replica.child.errors.split(separator: "\n").count { $0.contains("max_file_store") } == 1)
  }

  @Test("Verdicts and lost agents have lines in the log of a replica")
  func log() throws {
    let fleet = try FleetNetwork(.latest, servers: 1, agents: 2, replicas: 1)
    let replica = fleet.replicas[0]
    try fleet.flap(1)
    fleet.agents[1].child.kill()
    #expect(
      eventually {
        replica.child.errors.contains("agent lost agent=node1") && replica.child.errors.contains("verdict changed ")
      }, "\(replica.child.errors.suffix(2000))")
  }

  @Test("The commands of a client show the fleet at a replica, and nothing of it at an agent")
  func commands() throws {
    let fleet = try FleetNetwork(.latest, servers: 1, agents: 2, replicas: 1)
    let replica = fleet.replicas[0]
    func run(_ member: Member, _ arguments: String...) throws -> String {
      try member.namespace.run(
        "/bin/sh", ["-c", "\"$@\" || true", "sh", Program.path] + arguments + ["--url", "http://\(member.address)"])
    }
    #expect(
      eventually { (try? run(replica, "targets"))?.contains("up t1 route://10.9.0.10 since ") == true },
      "\((try? run(replica, "targets")) ?? "")")
    #expect(try run(replica, "targets", "--state", "up").split(separator: "\n").count == FleetNetwork.targets)
    #expect(try run(replica, "targets", "--state", "partial") == "")
    #expect(try run(replica, "status").contains("fleet: agents 2 present; targets 10 up; engine connected"))
    #expect(try run(replica, "top", "--once").contains("targets: 10 up"))
    #expect(try !run(fleet.agents[0], "status").contains("fleet:"))
    // An agent has the targets as its own.
    #expect(try run(fleet.agents[0], "targets").split(separator: "\n").count == FleetNetwork.targets)
  }
}
