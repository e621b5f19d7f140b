import Testing

@testable import ReachabilityFleet

@Suite("FleetAssignment")
struct FleetPlacementTests {
  private static func candidates(_ count: Int, zones: Int = 3, lost: Set<Int> = []) -> [FleetAssignment.Candidate] {
    (0..<count).map {
      FleetAssignment.Candidate(
        id: "a\($0)", zone: "z\($0 % zones)", labels: ["env": $0 % 2 == 0 ? "prod" : "test"],
        isPresent: !lost.contains($0))
    }
  }

  @Test("Without a count, all selected agents check, also lost ones")
  func all() {
    let agents = Self.candidates(6, lost: [2])
    #expect(FleetAssignment.agents(for: "t", FleetPlacement(), among: agents) == (0..<6).map { "a\($0)" })
    #expect(
      FleetAssignment.agents(for: "t", FleetPlacement(select: ["env": "prod"]), among: agents) == ["a0", "a2", "a4"])
    #expect(FleetAssignment.agents(for: "t", FleetPlacement(select: ["env": "none"]), among: agents).isEmpty)
  }

  @Test("A lost agent's targets move, and no others")
  func minimalMovement() {
    let placement = FleetPlacement(count: 3)
    let before = Self.candidates(20)
    let after = Self.candidates(20, lost: [7])
    var moved = 0
    for index in 0..<1000 {
      let old = FleetAssignment.agents(for: "t\(index)", placement, among: before)
      let new = FleetAssignment.agents(for: "t\(index)", placement, among: after)
      #expect(new.count == 3)
      if old.contains("a7") {
        moved += 1
        #expect(!new.contains("a7") && Set(new).subtracting(old).count == 1)
      } else {
        #expect(old == new)
      }
    }
    // 3 of 20 are 150 of 1,000 on average.
    #expect((90...210).contains(moved), "\(moved)")
  }

  @Test("Targets are spread evenly")
  func balance() {
    var counts: [String: Int] = [:]
    for index in 0..<2000 {
      for agent in FleetAssignment.agents(for: "t\(index)", FleetPlacement(count: 2), among: Self.candidates(10)) {
        counts[agent, default: 0] += 1
      }
    }
    #expect(counts.count == 10)
    #expect(counts.values.allSatisfy { (300...500).contains($0) }, "\(counts)")
  }

  @Test("Agents come from different zones when the placement spreads")
  func spread() {
    for index in 0..<200 {
      let chosen = FleetAssignment.agents(
        for: "t\(index)", FleetPlacement(count: 3, spreadsZones: true), among: Self.candidates(12))
      let zones = Set(chosen.map { (Int($0.dropFirst()) ?? 0) % 3 })
      #expect(zones.count == 3)
    }
  }

  @Test("A lost agent stays assigned when no other can take its place")
  func tooFew() {
    let agents = FleetAssignment.agents(for: "t", FleetPlacement(count: 3), among: Self.candidates(4, lost: [0, 1]))
    #expect(agents.count == 3 && agents.contains("a2") && agents.contains("a3"))
  }

  @Test("The mesh is complete up to 33 agents, sparse and connected above", arguments: [1, 2, 33, 34, 200])
  func mesh(_ count: Int) {
    let peers = (0..<count).map { FleetMesh.Peer(id: "a\($0)", zone: "z\($0 % 4)") }
    var neighbours: [String: Set<String>] = [:]
    for peer in peers {
      let checked = FleetMesh.peers(of: peer, among: peers)
      #expect(checked.count == (count <= FleetMesh.fullMesh ? count - 1 : count == 33 ? 16 : FleetMesh.degree))
      #expect(!checked.contains(peer.id))
      for other in checked {
        neighbours[peer.id, default: []].insert(other)
        neighbours[other, default: []].insert(peer.id)
      }
      if count > 40 {
        #expect(peers.filter { checked.contains($0.id) && $0.zone == peer.zone }.count == FleetMesh.degree / 2)
      }
    }
    var reached: Set<String> = ["a0"]
    var pending = ["a0"]
    while let next = pending.popLast() {
      for other in neighbours[next, default: []] where reached.insert(other).inserted { pending.append(other) }
    }
    #expect(reached.count == count)
  }

  @Test("Ids of the mesh's targets name the agent")
  func meshTargets() {
    #expect(FleetMesh.target(of: "node7") == "mesh.node7")
    #expect(FleetMesh.agent(of: "mesh.node7") == "node7")
    #expect(FleetMesh.agent(of: "db") == nil)
  }

  @Test("An agent checks the others that have an address, also lost ones, and not those that left")
  func meshOfFold() {
    var fold = FleetFold(created: 1)
    var sequence: UInt64 = 0
    func apply(_ id: String, _ content: NodeMessage.Content) {
      sequence += 1
      _ = fold.apply(.node(NodeMessage(id: id, content)), sequence: sequence, time: Int64(sequence))
    }
    for id in ["a", "b", "c", "d", "e"] {
      let hello = NodeHello(
        role: id == "e" ? .replica : .agent, address: id == "d" ? nil : "tcp://\(id):8080", version: "1")
      apply(id, .hello(hello, restates: false))
    }
    #expect(fold.meshTargets(of: "a") == ["mesh.b": "tcp://b:8080", "mesh.c": "tcp://c:8080"])
    #expect(fold.meshTargets(of: "d").count == 3, "an agent without an address checks others")
    apply("b", .lost(hello: 2, attributes: NodeHello(role: .agent, address: "tcp://b:8080", version: "1"), by: "e"))
    #expect(fold.meshTargets(of: "a").count == 2)
    apply("c", .bye)
    #expect(fold.meshTargets(of: "a") == ["mesh.b": "tcp://b:8080"])
  }
}
