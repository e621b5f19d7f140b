import Foundation
import Glibc
import TestSupport
import Testing

/// Gates over restarts of the program and of the machine.
@Suite("Gates with a data directory", .needsNamespaces)
struct GateTests {
  /// More in `make test-long`.
  private static let kills = Program.environmentVariable("REACHD_GATE_KILLS").flatMap { Int($0) } ?? 2
  /// Interfaces, each with a target behind it.
  private static let interfaces = 3
  private static let gates: [(id: String, members: [Int], needed: Int)] =
    (0..<interfaces).map { ("g\($0)", [$0], 1) } + [
      ("all", Array(0..<interfaces), interfaces), ("any", Array(0..<interfaces), 1),
    ]

  private let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  // MARK: - Kills

  private static let configuration = """
    targets:
    \((0..<interfaces).map { "  - { id: t\($0), target: 'route://10.9.\($0).2', labels: { tier: t } }" }.joined(separator: "\n"))
    gates:
    \((0..<interfaces).map { "  g\($0): { targets: [t\($0)] }" }.joined(separator: "\n"))
      all: { targets: [\((0..<interfaces).map { "t\($0)" }.joined(separator: ", "))] }
      any: { select: { tier: t }, atLeast: 1 }

    """

  /// Has the routes of the targets come and go, each at its own pace, for about three seconds; at the end all are there.
  private func flap() throws -> Child {
    let script = """
      i=1; while [ $i -lt 60 ]; do
        for n in 0 1 2; do
          case $((i % (7 + n))) in
            0) echo "addr del 10.9.$n.1/24 dev e$n" ;;
            3) echo "addr replace 10.9.$n.1/24 dev e$n" ;;
          esac
        done
        sleep 0.05
        i=$((i + 1))
      done | ip -force -batch -
      for n in 0 1 2; do ip addr replace 10.9.$n.1/24 dev e$n; done
      """
    return try fixture.namespace.spawn("/bin/sh", ["-c", script])
  }

  @Test("SIGKILL while gates flap loses no event, repeats none, and leaves the states that follow from the members")
  func kill() throws {
    try fixture.namespace.ip(
      batch: (0..<Self.interfaces).flatMap { number in
        [
          "link add e\(number) type veth peer name f\(number)", "link set e\(number) up", "link set f\(number) up",
          "addr add 10.9.\(number).1/24 dev e\(number)",
        ]
      })
    let listener = ResumingListener()
    for round in 0..<Self.kills {
      let daemon = try fixture.start(configuration: Self.configuration)
      try listener.connect(to: daemon)
      let writer = try flap()
      // At another moment in each round: between the events of targets and of gates, too.
      var count = 0
      while count < 3 + round % 7 { if try listener.read().name == "gate" { count += 1 } }
      for _ in 0..<round % 5 { try listener.read() }
      daemon.child.kill()
      try listener.drain()
      // The rest of the changes happens while no program runs.
      try writer.wait()
    }
    let daemon = try fixture.start(configuration: Self.configuration)
    try listener.connect(to: daemon)
    try fixture.namespace.ip("addr del 10.9.1.1/24 dev e1")
    for gate in Self.gates {
      let reachable = gate.members.count { $0 != 1 }
      try wait(daemon, gate.id, toBe: reachable >= gate.needed ? "open" : "closed")
    }
    // All events of the gates are before the one of this change.
    try fixture.changeMTU([2000])
    while try listener.read().data["interface"]?["mtu"]?.integer != 2000 {}
    try daemon.terminate()
    #expect(try fixture.compareWithStore([listener]).count > Self.kills * 3)
    try recompute()
  }

  /// The stored events are those that follow from the states of the members, in their order.
  private func recompute() throws {
    let bodies = try fixture.sqlite("SELECT CAST(body AS TEXT) FROM event ORDER BY seq").split(separator: "\n")
    let events = try bodies.filter { $0.hasPrefix("data: ") }.map { try JSONValue($0.dropFirst(6)) }
    var targets: [String: String] = [:]
    var states: [String: String] = [:]
    for event in events {
      if let id = event["target"]?["id"]?.text { targets[id] = event["to"]?.text }
      guard let id = event["gate"]?["id"]?.text, let gate = Self.gates.first(where: { $0.id == id }) else { continue }
      #expect(event["from"]?.text == states[id], "an event of \(id) is lost or repeated: \(event)")
      states[id] = event["to"]?.text
      let reachable = gate.members.count { targets["t\($0)"] == "up" }
      switch (event["to"]?.text, event["reason"]?.text) {
      case ("open", nil): #expect(reachable >= gate.needed, "\(id) is open with \(targets): \(event)")
      case ("closed", "missing"): #expect(reachable < gate.needed, "\(id) is closed with \(targets): \(event)")
      // Before the first report of the kernel.
      case ("closed", "starting"): break
      default: Issue.record("\(event)")
      }
    }
    for gate in Self.gates {
      let reachable = gate.members.count { targets["t\($0)"] == "up" }
      #expect(states[gate.id] == (reachable >= gate.needed ? "open" : "closed"), "\(gate.id), \(targets)")
    }
  }

  private func wait(_ daemon: StoreDaemon, _ id: String, toBe state: String) throws {
    let isReached = try eventually { try JSONValue(daemon.get("/gates/\(id)").text)["state"]?.text == state }
    let text = try daemon.get("/gates/\(id)").text
    #expect(isReached, "\(id) is not \(state): \(text)")
  }

  // MARK: - The machine

  /// A server that does not answer before a file exists.
  private static let server = """
    import http.server, os, sys, time
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            while not os.path.exists(sys.argv[1]): time.sleep(0.01)
            self.send_response(200)
            self.end_headers()
        def log_message(self, *arguments): pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
    """

  /// After a reboot, and after three days without the service, a stored `up` is not the present.
  @Test("A stored up does not open a gate after a reboot, nor after three days", arguments: ["reboot", "days"])
  func outdated(by cause: String) throws {
    // Without time namespaces, the reboot alone is emulated.
    guard cause == "reboot" || TimeNamespace.isSupported else { return }
    let go = "\(fixture.data.path)/go"
    let server = try fixture.namespace.spawnService("/usr/bin/python3", ["-c", Self.server, go])
    defer { server.kill() }
    #expect(eventually { server.output.hasSuffix("\n") }, "\(server.errors)")
    let configuration = """
      targets: [{ id: web, target: 'http://127.0.0.1:\(server.output.dropLast())/', interval: 24h, timeout: 30s }]
      gates: { app: { targets: [web], openAfter: 0s } }

      """
    _ = try fixture.data.write("", as: "go")
    let first = try fixture.start(configuration: configuration)
    try wait(first, "app", toBe: "open")
    try first.terminate()
    #expect(unsafe unlink(go) == 0)
    var launcher: [String] = []
    if cause == "reboot" {
      try fixture.setEarlierBoot()
    } else {
      let text = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
      let present = try #require(text.split(separator: ".").first.flatMap { Int($0) })
      launcher = try TimeNamespace.launcher(present + 3 * 86_400)
    }
    let second = try fixture.start(configuration: configuration, launcher: launcher)
    let closed = try JSONValue(second.get("/gates/app").text)
    #expect(closed["state"]?.text == "closed" && closed["reason"]?.text == "starting", "\(closed)")
    #expect(closed["missing"]?.texts == ["web"] && closed["members"]?["starting"]?.integer == 1)
    #expect(try second.get("/gates/app?require=open").status == 503)
    _ = try fixture.data.write("", as: "go")
    try wait(second, "app", toBe: "open")
    let history = try JSONValue(second.get("/gates/app/history?order=asc").text)["history"]?.elements ?? []
    let changes = history.suffix(2).map { "\($0["to"]?.text ?? "-") \($0["reason"]?.text ?? "-")" }
    #expect(changes == ["closed starting", "open -"], "\(history)")
  }
}
