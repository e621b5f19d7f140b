import Glibc
import ReachabilityFleet
import TestSupport
import Testing

@Suite("Webhooks of replicas", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct WebhookTests {
  /// A receiver that prints the id of each request.
  private static let receiver = """
    import http.server
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            print("id", self.headers["webhook-id"], flush=True)
            self.send_response(204)
            self.end_headers()
        def log_message(self, *_): pass
    server = http.server.ThreadingHTTPServer(("10.77.0.1", 9000), Handler)
    print("ready", flush=True)
    server.serve_forever()
    """

  @Test("Every verdict is delivered, also over the death of the replica that delivers, and few are repeated")
  func death() throws {
    let directory = try TemporaryDirectory()
    let secret = try directory.write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", as: "secret")
    let fleet = try FleetNetwork(
      .latest, servers: 1, agents: 2,
      replicaSettings: """
        webhooks:
          - { id: ops, url: "http://10.77.0.1:9000/", secretFile: \(secret), types: [verdict], insecure: true }
        """)
    let receiver = try fleet.hub.spawnService("/usr/bin/python3", ["-c", Self.receiver])
    #expect(eventually { receiver.output.contains("ready") })
    func sends(_ replica: Int) -> Bool {
      let state = (try? JSONValue(fleet.replicas[replica].get("/webhooks/ops")))?["state"]?.text
      return ["idle", "sending", "retrying", "held"].contains(state)
    }
    func owner() -> Int? { fleet.replicas.indices.first { sends($0) } }
    #expect(eventually(within: .seconds(30)) { owner() != nil }, "\((try? fleet.replicas[0].get("/webhooks")) ?? "")")
    let known = Self.verdicts(fleet).count
    try fleet.flap(3)
    let first = try #require(owner())
    fleet.replicas[first].child.kill()
    _ = try fleet.replicas[first].child.wait()
    try fleet.flap(3)
    try fleet.restartReplica(first)
    #expect(eventually(within: .seconds(40)) { sends(first) })
    try fleet.flap(2)
    var (expected, received): (Set<String>, [String]) = ([], [])
    let isDelivered = eventually(within: .seconds(40)) {
      expected = Set(Self.verdicts(fleet).dropFirst(known))
      received = receiver.output.split(separator: "\n").filter { $0.hasPrefix("id ") }.map { String($0.dropFirst(3)) }
      return !expected.isEmpty && expected.isSubset(of: received)
    }
    #expect(isDelivered, "missing \(expected.subtracting(received))")
    #expect(!received.contains { $0.hasSuffix("-gap") })
    let repeated = received.count - Set(received).count
    #expect(repeated <= 2, "\(repeated) of \(received.count)")
  }

  /// The ids of the verdicts that subscribers have.
  private static func verdicts(_ fleet: FleetNetwork) -> [String] {
    fleet.subscribers[0].events.filter { $0.name == "verdict" }.compactMap(\.id)
  }

  @Test("Types of events that a program does not have are errors")
  func types() throws {
    let directory = try TemporaryDirectory()
    let secret = try directory.write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", as: "secret")
    let commands: [(String, [String], String)] = [
      (Program.path + "-fleet", ["agent"], "verdict"), (Program.path + "-fleet", ["replica"], "target"),
      (Program.path + "-fleet", ["replica"], "verdict, status"), (Program.path, ["serve"], "agent, target"),
      (Program.path, ["config", "check"], "verdict"),
    ]
    for (program, words, types) in commands {
      let fleet = program == Program.path ? "" : #"fleet: { id: x, servers: ["nats://127.0.0.1:1"] }"#
      let file = try directory.write(
        """
        listen: 127.0.0.1:0
        data: \(directory.path)/data
        store: { runtime: \(directory.path) }
        \(fleet)
        webhooks: [{ id: ops, url: "https://ops.example/", secretFile: \(secret), types: [\(types)] }]
        """, as: "x.yaml")
      let child = try Child(program, words + ["--config", file])
      #expect(try child.wait() == .exited(78))
      #expect(child.errors.contains("of which there are no events here"), "\(child.errors)")
    }
  }
}
