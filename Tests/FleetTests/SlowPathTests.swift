import FleetAPI
import JetStream
import ReachabilityFleet
import TestSupport
import Testing

/// Members whose packets to the engine and back take 300 ms each, as over a satellite.
@Suite(
  "A slow path to the engine", .partOfFleetVerb, .enabled(if: !NATSServer.isSkipped && Namespace.isSupported))
struct SlowPathTests {
  /// Relays connections to a server; every byte arrives 300 ms after it was read.
  private static let relay = """
    import queue, socket, sys, threading, time
    target = int(sys.argv[1])
    def read(source, bytes):
        try:
            while data := source.recv(65536): bytes.put((time.monotonic() + 0.3, data))
        except OSError: pass
        bytes.put((time.monotonic() + 0.3, b""))
    def write(bytes, sink, source):
        while True:
            due, data = bytes.get()
            time.sleep(max(0, due - time.monotonic()))
            try:
                if data: sink.sendall(data)
                else: break
            except OSError: break
        for each in (sink, source):
            try: each.shutdown(socket.SHUT_RDWR)
            except OSError: pass
    def start(source, sink):
        bytes = queue.Queue()
        threading.Thread(target=read, args=(source, bytes), daemon=True).start()
        threading.Thread(target=write, args=(bytes, sink, source), daemon=True).start()
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        client = listener.accept()[0]
        server = socket.create_connection(("127.0.0.1", target))
        start(client, server)
        start(server, client)
    """

  @Test(
    "A replica becomes complete, stores what agents report, and reports none of them",
    arguments: NATSServer.Version.allCases
  )
  func roundTrip(_ version: NATSServer.Version) throws {
    let fixture = try FleetFixture(version)
    let connection = try fixture.connect()
    _ = try FleetFixture.makeStream(connection)
    try FleetFixture.define(20, connection)
    let record = StreamRecord()
    let consumer = JetStreamOrderedConsumer(connection, stream: FleetSubject.stream, from: 1) { record.add($0) }
    defer { consumer.cancel() }
    let near = try fixture.startAgent("node1")
    #expect(eventually { Set(record.changes("node1").map(\.target)).count == 20 }, "\(near.child.errors)")
    try fixture.flap(10)

    let relay = try fixture.namespace.spawnService("/usr/bin/python3", ["-c", Self.relay, "\(fixture.server.port)"])
    defer { relay.kill() }
    #expect(eventually { relay.output.hasSuffix("\n") }, "\(relay.errors)")
    let port = relay.output.dropLast()
    let replica = try start("replica", "replica2", port, fixture)
    #expect(
      eventually { (try? replica.get("/fleet").contains("\"complete\":true")) == true }, "\(replica.child.errors)")

    // From now on it alone stores what agents report.
    fixture.replica.child.kill()
    _ = try fixture.replica.child.wait()
    let far = try start("agent", "node2", port, fixture)
    #expect(
      eventually { Set(record.changes("node2").map(\.target)).count == 20 }, "\(far.child.errors)")
    try fixture.flap(5)
    for (id, agent) in [("node1", near), ("node2", far)] {
      let last = try agent.lastChange()
      #expect(eventually(within: .seconds(60)) { record.published(id) >= last }, "\(agent.child.errors)")
      #expect(record.faults(id) == [])
    }
    let up = #""up":2,"down":0"#
    #expect(
      eventually { (try? replica.get("/fleet/targets/t1").contains(up)) == true },
      "\((try? replica.get("/fleet/targets/t1")) ?? "")")
    #expect(try replica.get("/fleet/agents?state=lost").contains(#""agents":[]"#))
    #expect(!replica.child.errors.contains("agent lost"), "\(replica.child.errors)")
  }

  private func start(_ role: String, _ id: String, _ port: Substring, _ fixture: FleetFixture) throws -> Member {
    let file = try fixture.directory.write(
      """
      listen: 127.0.0.1:0
      drainDelay: 0s
      data: \(fixture.directory.path)/\(id)
      store: { runtime: \(fixture.directory.path) }
      fleet: { id: \(id), zone: b, servers: ["nats://127.0.0.1:\(port)"] }
      """, as: "\(id).yaml")
    return try Member(fixture.namespace, role, file)
  }
}
