import JetStream
import NATSClient
import ReachabilityFleet
import ReachabilityModel
import FleetAPI
import TestSupport
import Testing

/// The permissions that `reachd-fleet config engine` prints, against both servers.
@Suite("Rights of agents", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct RightsTests {
  @Test(
    "Replicas and agents work with the printed permissions, and a replica cannot delete the stream",
    arguments: NATSServer.Version.allCases)
  func rights(_ version: NATSServer.Version) throws {
    let fleet = try AttackedFleet(version)
    // Every request of an agent, and what follows from it.
    try fleet.define("t1")
    try fleet.expectUp("t1", votes: 2)
    let request = ["-sf", "-X", "POST", "-H", "Content-Type: application/json", "-d", #"{"target":"t1"}"#]
    let checks = try fleet.fixture.namespace.run(
      "/usr/bin/curl", request + ["http://\(fleet.replica.address)/fleet/checks"])
    #expect(checks.contains(#""agent":"node1","state":"up""#) && checks.contains(#""agent":"node2","state":"up""#))
    try fleet.fixture.flap()
    let last = try fleet.agents[0].lastChange()
    #expect(eventually { fleet.record.published("node1") >= last })
    // The replica asks the agent, whose process has ended.
    fleet.agents[1].child.kill()
    #expect(eventually { (try? fleet.replica.get("/fleet/agents/node2").contains("\"state\":\"lost\"")) == true })
    let members = [fleet.replica] + fleet.agents
    #expect(members.allSatisfy { !$0.child.errors.contains("Permissions") }, "\(members.map(\.child.errors))")

    let user = try fleet.connect("replica1", inbox: "_INBOX.replica.x")
    for request in ["STREAM.DELETE", "STREAM.PURGE", "STREAM.UPDATE", "STREAM.MSG.DELETE"] {
      #expect(throws: NATSError.self, "\(request)") {
        try user.request("$JS.API.\(request).\(FleetSubject.stream)", Array("{}".utf8), within: .milliseconds(300))
      }
    }
    #expect(try fleet.test.stream(FleetSubject.stream, within: .seconds(3)).messages > 0)
  }

  @Test("An id with dots and hyphens has its own permissions", arguments: NATSServer.Version.allCases)
  func unusualID(_ version: NATSServer.Version) throws {
    let fleet = try AttackedFleet(version, agents: ["a.b-c.", "node2"])
    try fleet.define("t1")
    try fleet.expectUp("t1", votes: 2)
    #expect(fleet.agents.allSatisfy { !$0.child.errors.contains("Permissions") })
  }

  @Test("deploy/fleet has what is printed, and nats-server accepts it", arguments: NATSServer.Version.allCases)
  func example(_ version: NATSServer.Version) throws {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
    func file(_ name: String) throws -> String {
      let child = try Child("/bin/cat", [root + "/deploy/fleet/" + name])
      try child.wait()
      return child.output
    }
    let members = [
      "--replica", "replica1", "--replica", "replica2", "--agent", "node1", "--agent", "node2", "--agent", "node3",
    ]
    let printed = try Child(
      Program.path + "-fleet", ["config", "engine"] + members, environment: Program.environment())
    #expect(try printed.wait() == .exited(0))
    #expect(try file("fleet.conf") == printed.output)
    let directory = try TemporaryDirectory()
    _ = try directory.write(printed.output, as: "fleet.conf")
    let text = try file("nats.conf").replacing("\"/data\"", with: "\"\(directory.path)/data\"")
    let configuration = try directory.write(text, as: "nats.conf")
    var environment = ["SERVER_NAME": "nats1"]
    for name in ["REPLICA1", "REPLICA2", "NODE1", "NODE2", "NODE3"] { environment[name + "_PASSWORD"] = "secret" }
    let child = try Child(version.program, ["-t", "-c", configuration], environment: environment)
    #expect(try child.wait() == .exited(0), "\(child.errors)")
  }

  @Test("Lists that give no boundary are refused")
  func invalidLists() throws {
    let key = "U" + String(repeating: "A", count: 55)
    let lists: [[String]] = [
      [], ["--agent", "a"], ["--replica", "r"], ["--agent", "a", "--replica", "a"],
      ["--agent", "a", "--agent", "a", "--replica", "r"], ["--agent", "a-1", "--agent", "a.1", "--replica", "r"],
      ["--agent", "A", "--replica", "r"], ["--agent", "a*", "--replica", "r"], ["--agent", "a=U1", "--replica", "r"],
      ["--agent", "", "--replica", "r"], ["--agent", ">", "--replica", "r"],
    ]
    for list in lists {
      let child = try Child(Program.path + "-fleet", ["config", "engine"] + list, environment: Program.environment())
      #expect(try child.wait() == .exited(64), "\(list)")
    }
    let valid = ["--agent", "a-1", "--agent", "a.1=\(key)", "--replica", "r=\(key)"]
    let child = try Child(Program.path + "-fleet", ["config", "engine"] + valid, environment: Program.environment())
    #expect(try child.wait() == .exited(0), "\(child.errors)")
    #expect(child.output.contains("nkey: \(key)") && child.output.contains("password: $A_1_PASSWORD"))
  }
}
