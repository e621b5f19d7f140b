import ReachabilityModel
import Testing

@testable import ReachabilityChecks

/// Which entries of `dependsOn` are refused.
@Suite("Rules of dependencies")
struct DependencyRulesTests {
  private func target(_ id: String, _ dependsOn: [TargetDependency] = []) throws -> TargetDefinition {
    TargetDefinition(id: id, target: try CheckTarget("tcp://10.0.0.1:1"), dependsOn: dependsOn)
  }

  /// Targets of which each depends on the next.
  private func chain(_ count: Int, endingWith last: String? = nil) throws -> [TargetDefinition] {
    try (0..<count).map { number in
      let next = number + 1 < count ? "t\(number + 1)" : last
      return try target("t\(number)", next.map { [TargetDependency($0)] } ?? [])
    }
  }

  @Test("A tree, a diamond and alternatives are accepted")
  func accepted() throws {
    let targets = [
      try target("core"), try target("a", [.init("core")]), try target("b", [.init("core")]),
      try target("leaf", [.init("a"), .init(anyOf: ["a", "b", "core"]), .init("b")]),
    ]
    #expect(DependencyRules.faults(in: targets).isEmpty)
    #expect(DependencyRules.faults(in: try chain(8)).isEmpty)
  }

  @Test("A missing parent is named at its child")
  func unknown() throws {
    let targets = [try target("a", [.init(anyOf: ["b", "core"])]), try target("b", [.init("x")])]
    #expect(DependencyRules.faults(in: targets) == ["a": .unknown(parent: "core"), "b": .unknown(parent: "x")])
  }

  @Test("A cycle is named once, with all of its targets")
  func cycles() throws {
    var targets = try chain(5, endingWith: "t2") + [try target("leaf", [.init("t0")])]
    #expect(DependencyRules.faults(in: targets) == ["t2": .cycle(["t2", "t3", "t4", "t2"])])
    targets += [try target("x", [.init("y")]), try target("y", [.init("x")])]
    #expect(Set(DependencyRules.faults(in: targets).keys) == ["t2", "x"])
    #expect("\(DependencyFault.cycle(["a", "b", "a"]))" == "a → b → a is a cycle; remove one of these dependencies")
  }

  @Test("A chain of nine is refused at its last target, also one of ten thousand")
  func depth() throws {
    #expect(DependencyRules.faults(in: try chain(9)) == ["t0": .tooDeep(limit: 8)])
    #expect(DependencyRules.faults(in: try chain(10_000)) == ["t0": .tooDeep(limit: 8)])
    let cycle = try chain(10_000, endingWith: "t0")
    #expect(DependencyRules.faults(in: cycle).count == 1)
  }

  @Test(
    "A single target is judged with its ancestors and descendants",
    arguments: [
      ("t8", ["new"], DependencyFault?.none), ("new", ["t0"], .tooDeep(limit: 8)), ("new", ["t1"], nil),
      ("t7", ["t0"], .cycle(["t7", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"])),
      ("t7", ["new"], .tooDeep(limit: 8)),
      ("new", ["none"], .unknown(parent: "none")), ("t3", ["t3"], .cycle(["t3", "t3"])), ("t0", [], nil),
    ])
  func single(id: String, parents: [String], fault: DependencyFault?) throws {
    let known = Dictionary(uniqueKeysWithValues: (try chain(8) + [target("new")]).map { ($0.id, $0.dependsOn) })
    let found = DependencyRules.fault(
      of: id, parents.map { TargetDependency($0) }, entries: { known[$0] },
      children: { parent in Set(known.filter { $0.value.contains(TargetDependency(parent)) }.keys) })
    #expect(found == fault)
  }

  @Test("Entries that are wrong alone are faults of the field")
  func alone() {
    func faults(_ entries: [TargetDependency]) -> [String] {
      var spec = TargetSpec()
      (spec.id, spec.target, spec.dependsOn) = ("a", "tcp://10.0.0.1:1", entries)
      do throws(TargetSpec.Faults) {
        _ = try spec.definition()
        return []
      } catch {
        return error.faults.filter { $0.field == .dependsOn }.map(\.problem)
      }
    }
    #expect(faults([.init("b"), .init(anyOf: ["b", "c"])]).isEmpty)
    #expect(faults([.init("a")]) == ["a depends on itself"])
    #expect(faults([.init(anyOf: ["b", "a"])]) == ["a depends on itself"])
    #expect(faults([.init("B!")]) == [#""B!" is not an id of a target"#])
    #expect(faults([.init(anyOf: [])]) == ["anyOf has 0 targets"])
    #expect(faults([.init(anyOf: (0..<9).map { "t\($0)" })]) == ["anyOf has 9 targets"])
    #expect(faults([.init(anyOf: ["b", "b"])]) == ["anyOf names a target twice"])
    #expect(faults([.init("b"), .init("b")]) == ["an entry is repeated"])
    #expect(faults((0..<17).map { .init("t\($0)") }) == ["there are 17 entries"])
  }
}
