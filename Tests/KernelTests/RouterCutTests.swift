import Foundation
import TestSupport
import Testing

/// A router with a thousand targets behind it, beyond this machine's own link, and the real program.
@Suite(.needsNamespaces) struct RouterCutTests {
  /// How the targets become unreachable.
  enum Cut: String, CaseIterable, Sendable {
    /// The switch between the machine and the router forwards nothing; both links stay up.
    case drop
    /// The router and the targets refuse connections.
    case reject
    /// The cable between the switch and the router.
    case cable
  }

  private static let count = 1_000
  /// How often each cut is made: once, unless the long tests ask for more.
  private static let runs = Program.environmentVariable("REACHD_CUTS").flatMap { Int($0) } ?? 1

  /// The machine, a switch and a router, which also has the addresses of all targets.
  private struct Lab {
    let pair: VethPair
    let router: Namespace
    var port: RegisteredTargetTests.OpenPort?

    init() throws {
      // The end of the pair becomes a port of the switch.
      pair = try VethPair()
      router = try Namespace()
      try pair.router.ip("link add pad0 type veth peer name pad1")
      try pair.router.ip("link add s0 type veth peer name u0 netns \(router.path)")
      try pair.router.ip("link del pad0")
      try pair.router.ip(batch: [
        "addr flush dev r0", "link add br0 type bridge", "link set r0 master br0", "link set s0 master br0",
        "link set s0 up", "link set br0 up",
      ])
      try router.ip(batch: [
        "link set lo up", "link set u0 up", "addr add 10.9.0.1/24 dev u0", "route add local 10.8.0.0/16 dev lo",
      ])
      try pair.client.ip("route add 10.8.0.0/16 via 10.9.0.1 dev c0")
      port = try RegisteredTargetTests.OpenPort(in: router)
    }

    /// The configuration; the phases of the targets are spread over the interval.
    var configuration: String {
      let number = port?.number ?? 0
      let times = "interval: 2s, timeout: 400ms, fastInterval: 400ms"
      let children = (0..<RouterCutTests.count).map { child in
        "  - {id: t\(child), target: \"tcp://10.8.\(child / 250).\(child % 250 + 1):\(number)\", \(times), dependsOn: [router]}\n"
      }
      // Its own check finds the cut long after those of the targets behind it.
      return "targets:\n  - {id: router, target: \"tcp://10.9.0.1:\(number)\", interval: 8s, timeout: 400ms}\n"
        + children.joined()
    }

    mutating func cut(_ cut: Cut) throws {
      switch cut {
      case .drop: try pair.router.run("/usr/sbin/bridge", ["link", "set", "dev", "s0", "state", "0"])
      case .reject: port = nil
      case .cable: try pair.router.ip("link set s0 down")
      }
    }

    func repair(_ cut: Cut) throws {
      switch cut {
      case .drop: try pair.router.run("/usr/sbin/bridge", ["link", "set", "dev", "s0", "state", "3"])
      case .reject: throw TestError("the port is another one")
      case .cable: try pair.router.ip("link set s0 up")
      }
    }
  }

  /// Reads events of targets until all are in the states that are wanted.
  private func events(_ reader: EventReader, until state: String, router: String) throws -> [String: [String]] {
    var seen: [String: [String]] = [:]
    var missing = Set((0..<Self.count).map { "t\($0)" } + ["router"])
    while !missing.isEmpty {
      let event = try #require(try reader.next(within: .seconds(60)), "\(missing.count) are missing")
      guard event.name == "target", let target = event.data["target"], let id = target["id"]?.text,
        let to = event.data["to"]?.text
      else { continue }
      let root = target["dependency"]?.text.map { " \($0)" } ?? ""
      seen[id, default: []].append(to + root)
      if to == (id == "router" ? router : state) { missing.remove(id) }
    }
    return seen
  }

  @Test("One down and a thousand unreachable by a dependency, in any order of checks", arguments: Cut.allCases)
  func cut(_ cut: Cut) throws {
    for _ in 0..<Self.runs {
      var lab = try Lab()
      let daemon = try DaemonUnderTest(in: lab.pair.client, configuration: lab.configuration)
      let isUp = eventually {
        (try? daemon.get("/metrics").text.contains("reachd_targets{state=\"up\"} \(Self.count + 1)\n")) == true
      }
      #expect(isUp)
      let reader = try daemon.events("?types=target")
      try lab.cut(cut)
      let seen = try events(reader, until: "unreachable", router: "down")
      #expect(seen["router"] == ["down"])
      let children = seen.filter { $0.key != "router" }
      #expect(children.count == Self.count && children.allSatisfy { $0.value == ["unreachable router"] })
      let explanation = try daemon.get("/targets/t0/explain").json
      #expect(explanation["reason"]?.text == "dependencyDown")
      #expect(explanation["answer"]?["step"]?.text == "dependency")
      guard cut != .reject else { continue }
      try lab.repair(cut)
      let recovery = try events(reader, until: "up", router: "up")
      #expect(recovery.values.allSatisfy { $0 == ["up"] })
    }
  }
}
