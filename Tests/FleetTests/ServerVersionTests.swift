import FleetAPI
import TestSupport
import Testing

/// Servers with which the permissions of agents do not hold.
@Suite("Versions of servers", .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct ServerVersionTests {
  /// Relays connections to a server, and replaces its version in the first line.
  private static let relay = """
    import re, socket, sys, threading
    target, version = int(sys.argv[1]), sys.argv[2]
    def copy(a, b):
        try:
            while data := a.recv(65536): b.sendall(data)
        except OSError: pass
        for each in (a, b):
            try: each.shutdown(socket.SHUT_RDWR)
            except OSError: pass
    def serve(client):
        server = socket.create_connection(("127.0.0.1", target))
        line = b""
        while not line.endswith(b"\\n"): line += server.recv(1)
        client.sendall(re.sub(rb'"version":"[^"]*"', b'"version":"' + version.encode() + b'"', line))
        threading.Thread(target=copy, args=(client, server), daemon=True).start()
        copy(server, client)
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    """

  @Test(
    "A replica refuses servers of some versions, unless that is permitted",
    arguments: [
      ("2.9.10", false), ("2.10.24", false), ("2.10.25", true), ("2.11.0", false), ("2.12.5", false), ("2.12.6", true),
      ("2.14.6", true),
    ])
  func versions(_ version: String, _ isUsed: Bool) throws {
    let namespace = try Namespace()
    let directory = try TemporaryDirectory()
    let server = try NATSServer(.latest, namespace: namespace)
    let relay = try namespace.spawnService("/usr/bin/python3", ["-c", Self.relay, "\(server.port)", version])
    defer { relay.kill() }
    #expect(eventually { relay.output.hasSuffix("\n") }, "\(relay.errors)")
    let port = relay.output.dropLast()
    func start(_ settings: String) throws -> Member {
      let file = try directory.write(
        """
        listen: 127.0.0.1:0
        drainDelay: 0s
        fleet: { id: replica1, servers: ["nats://127.0.0.1:\(port)"]\(settings) }
        """, as: "replica1.yaml")
      return try Member(namespace, "replica", file)
    }
    func isComplete(_ replica: Member) -> Bool {
      (try? replica.get("/fleet").contains("\"complete\":true")) == true
    }
    let replica = try start("")
    guard !isUsed else { return #expect(eventually { isComplete(replica) }, "\(replica.child.errors)") }
    #expect(eventually { replica.child.errors.contains("nats-server \(version)") }, "\(replica.child.errors)")
    #expect(!isComplete(replica))
    replica.child.kill()
    _ = try replica.child.wait()
    let permitted = try start(", permitUnsafeServers: true")
    // Older ones are not supported in any case.
    let isPermitted = !version.hasPrefix("2.9") && version != "2.10.24"
    if isPermitted {
      #expect(eventually { isComplete(permitted) }, "\(permitted.child.errors)")
    } else {
      #expect(eventually { permitted.child.errors.contains("nats-server \(version)") })
      #expect(!isComplete(permitted))
    }
  }
}
