import NetworkReachability
import ReachabilityModel
import TestSupport
import Testing

@testable import ReachabilityChecks

/// Which gates a change of a target concerns, and what they report.
@Suite("GateTable")
struct GateTableTests {
  private static func moment(_ seconds: Double) -> ScheduleMoment {
    .init(uptime: .seconds(seconds), time: Timestamp(microseconds: Int64(seconds * 1_000_000)))
  }

  private static func target(
    _ state: GateMemberState, _ labels: [String: String] = [:], _ origin: TargetOrigin = .configuration
  ) -> GateTable.Target {
    GateTable.Target(labels: labels, origin: origin, state: state)
  }

  private func evaluate(_ table: inout GateTable, at seconds: Double = 10) -> [String] {
    table.evaluate(machine: .reachable(.ethernetOrWiFi), [.check], at: Self.moment(seconds)).map {
      "\($0.report.definition.id) \($0.from?.rawValue ?? "-") \($0.report.status.state)"
    }
  }

  private func members(_ table: GateTable, _ id: String = "app") -> [String: GateMemberState] {
    Dictionary(uniqueKeysWithValues: (table.members(of: id) ?? []).map { ($0.id, $0.state) })
  }

  @Test("Named and selected members decide, and leave with their labels")
  func members() {
    var table = GateTable()
    table.put(
      GateDefinition(id: "app", targets: ["db"], selection: ["tier": "backend"], atLeast: .count(1)), .configuration,
      at: Self.moment(0))
    #expect(evaluate(&table, at: 0) == [])
    #expect(table.report(of: "app")?.status.reason == .notRegistered)
    table.update("db", Self.target(.up))
    table.update("a", Self.target(.up, ["tier": "backend", "zone": "1"]))
    table.update("b", Self.target(.down, ["tier": "backend"]))
    table.update("c", Self.target(.up, ["tier": "frontend"]))
    table.update("d", Self.target(.up, ["tier": "backend"], .runtime))
    #expect(evaluate(&table, at: 1) == ["app closed open"])
    #expect(members(table) == ["db": .up, "a": .up, "b": .down])
    #expect(table.report(of: "app")?.status.missing == ["b"])
    table.update("a", Self.target(.up, ["tier": "other"]))
    #expect(evaluate(&table, at: 2) == ["app open closed"])
    #expect(table.report(of: "app")?.status.reason == .missing)
    table.update("b", nil)
    #expect(evaluate(&table, at: 3) == [])
    #expect(table.report(of: "app")?.status.reason == .noMembers)
    table.update("db", nil)
    #expect(evaluate(&table, at: 4) == [])
    #expect(table.report(of: "app")?.status.reason == .notRegistered)
    #expect(members(table) == ["db": .notRegistered])
  }

  @Test("Only the gates of a changed target are evaluated")
  func locality() {
    var table = GateTable()
    for number in 0..<100 {
      table.put(GateDefinition(id: "g\(number)", targets: ["t\(number)"]), .configuration, at: Self.moment(0))
      table.update("t\(number)", Self.target(.up))
    }
    #expect(evaluate(&table).count == 100)
    _ = table.takeChanged()
    table.update("t7", Self.target(.down))
    table.update("t8", Self.target(.up))
    #expect(evaluate(&table) == ["g7 open closed"])
    let changed = table.takeChanged()
    #expect(changed == ["g7"])
  }

  @Test("The worst members are named first, at most 32")
  func missing() {
    var table = GateTable()
    table.put(GateDefinition(id: "app", selection: ["x": "1"]), .configuration, at: Self.moment(0))
    let states = GateMemberState.allCases.filter { $0 != .notRegistered }
    for number in 0..<120 {
      let id = "t\(number < 10 ? "00" : number < 100 ? "0" : "")\(number)"
      table.update(id, Self.target(states[number % states.count], ["x": "1"]))
    }
    _ = evaluate(&table)
    let missing = table.report(of: "app")?.status.missing ?? []
    let expected = stride(from: 5, to: 120, by: 6).map { $0 } + stride(from: 4, to: 76, by: 6).map { $0 }
    #expect(missing == expected.map { "t\($0 < 10 ? "00" : $0 < 100 ? "0" : "")\($0)" })
    #expect(table.report(of: "app")?.status.counts[.up] == 20)
    #expect(table.report(of: "app")?.status.counts.total == 120)
  }

  @Test("A gate with more members than the limit is closed until there are less")
  func limit() {
    var table = GateTable()
    table.put(GateDefinition(id: "app", selection: ["x": "1"]), .configuration, at: Self.moment(0))
    let ids = (0...Limits.gateMembers).map { "t\($0)" }
    for id in ids { table.update(id, Self.target(.up, ["x": "1"])) }
    _ = evaluate(&table, at: 1)
    #expect(table.report(of: "app")?.status.reason == .tooManyMembers)
    #expect(table.members(of: "app")?.isEmpty == true)
    table.update("t0", Self.target(.down, ["x": "1"]))
    _ = evaluate(&table, at: 1.5)
    #expect(table.nextDeadline == nil, "none has left")
    table.update("t0", nil)
    _ = evaluate(&table, at: 2)
    #expect(table.nextDeadline == .seconds(3), "they are counted again")
    #expect(evaluate(&table, at: 2.9) == [])
    #expect(evaluate(&table, at: 3) == ["app closed open"])
    #expect(table.members(of: "app")?.count == Limits.gateMembers)
    #expect(table.nextDeadline == nil)
  }

  @Test("A replaced gate has the members of its new definition")
  func replacing() {
    var table = GateTable()
    table.put(GateDefinition(id: "app", targets: ["a"]), .runtime, at: Self.moment(0))
    table.update("a", Self.target(.up))
    table.update("b", Self.target(.down))
    #expect(evaluate(&table) == ["app closed open"])
    let revision = table.definition(of: "app")?.revision
    table.put(GateDefinition(id: "app", targets: ["b"]), .runtime, at: Self.moment(11))
    table.update("b", Self.target(.down))
    #expect(evaluate(&table, at: 11) == ["app open closed"])
    #expect(table.definition(of: "app")?.revision != revision)
    table.update("a", Self.target(.down))
    #expect(evaluate(&table, at: 12) == [])
    table.remove("app")
    #expect(table.isEmpty && table.report(of: "app") == nil && table.nextDeadline == nil)
  }

  @Test("The time of an opening does not move while nothing changes")
  func openingTime() {
    var table = GateTable()
    table.put(GateDefinition(id: "app", targets: ["a", "b"], openAfter: .seconds(30)), .runtime, at: Self.moment(0))
    table.update("a", Self.target(.up))
    table.update("b", Self.target(.up))
    _ = evaluate(&table, at: 1)
    let report = table.report(of: "app")
    #expect(report?.status.opensAt == Self.moment(31).time && report?.status.reason == .settling)
    _ = table.evaluate(all: true, machine: .notReachable, [], at: Self.moment(7.3))
    #expect(table.report(of: "app") == report)
    #expect(table.nextDeadline == .seconds(31))
    #expect(evaluate(&table, at: 31) == ["app closed open"])
    #expect(table.report(of: "app")?.status.opensAt == nil)
  }

  /// What a gate must have as members: the rule of the documentation, over all targets.
  private func expected(
    _ gate: GateDefinition, _ targets: [String: GateTable.Target]
  ) -> [String: GateMemberState] {
    var members = Dictionary(uniqueKeysWithValues: gate.targets.map { ($0, targets[$0]?.state ?? .notRegistered) })
    for (id, target) in targets where !gate.selection.isEmpty && members[id] == nil {
      guard gate.includesClients || target.origin != .runtime else { continue }
      if gate.selection.allSatisfy({ target.labels[$0] == $1 }) { members[id] = target.state }
    }
    return members
  }

  @Test("Members are those of the definitions after any changes", arguments: 0..<20 as Range<UInt64>)
  func anyChanges(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = GateTable()
    var gates: [String: GateDefinition] = [:]
    var targets: [String: GateTable.Target] = [:]
    func labels(_ random: inout SeededGenerator) -> [String: String] {
      var labels: [String: String] = [:]
      for name in ["a", "b"] where Bool.random(using: &random) {
        labels[name] = ["1", "2"].randomElement(using: &random)
      }
      return labels
    }
    for step in 0..<400 {
      let (gate, id) = ("g\(Int.random(in: 0..<4, using: &random))", "t\(Int.random(in: 0..<9, using: &random))")
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        var definition = GateDefinition(id: gate, targets: [id], selection: labels(&random))
        definition.includesClients = Bool.random(using: &random)
        // As the registry does for the first gate.
        if gates.isEmpty { for (id, target) in targets { table.update(id, target) } }
        gates[gate] = definition
        table.put(definition, .runtime, at: Self.moment(0))
      case 1:
        gates[gate] = nil
        table.remove(gate)
      case 2:
        targets[id] = nil
        table.update(id, nil)
      case 3..<6:
        let origin: TargetOrigin = Bool.random(using: &random) ? .runtime : .configuration
        targets[id] = Self.target(.starting, labels(&random), origin)
        table.update(id, targets[id])
      default:
        let state: GateMemberState = [.up, .down, .paused, .unknown].randomElement(using: &random) ?? .up
        guard targets[id] != nil else { continue }
        targets[id]?.state = state
        table.setState(id, state)
      }
      _ = evaluate(&table, at: Double(step))
      for (gate, definition) in gates {
        let members = expected(definition, targets)
        #expect(self.members(table, gate) == members, "\(gate) of \(seed) after \(step)")
        let report = table.report(of: gate)
        for state in GateMemberState.allCases {
          #expect(report?.status.counts[state] == members.values.count { $0 == state })
        }
        let worst = members.filter { $0.value != .up }.sorted { ($1.value.rank, $0.key) < ($0.value.rank, $1.key) }
        #expect(report?.status.missing == worst.map(\.key))
      }
    }
  }

  @Test("Held gates are decided when they are released")
  func held() {
    var table = GateTable()
    table.put(GateDefinition(id: "app", targets: ["a"]), .configuration, at: Self.moment(0))
    table.update("a", Self.target(.up))
    #expect(evaluate(&table, at: 1) == ["app closed open"])
    table.hold()
    table.update("a", nil)
    #expect(evaluate(&table, at: 2) == [])
    #expect(table.report(of: "app")?.status.state == .open && table.nextDeadline == nil)
    table.put(GateDefinition(id: "app", targets: ["b"]), .configuration, at: Self.moment(2))
    table.update("b", Self.target(.up))
    table.release()
    #expect(evaluate(&table, at: 3) == [])
    #expect(table.report(of: "app")?.status.state == .open)
  }
}
