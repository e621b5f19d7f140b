import ReachabilityModel
import Testing

@testable import ReachabilityFleet

/// What folds that begin with different messages have in common.
extension FleetFoldTests {
  /// Applies a message some hours after the last one.
  private mutating func later(_ hours: Int64, _ message: FleetMessage?) {
    sequence += 1
    _ = fold.apply(message, sequence: sequence, time: fold.time + hours * 3_600_000_000_000)
  }

  @Test("A deletion is forgotten when the stream has dropped it, so that every fold accepts the next definition")
  mutating func oldDeletion() {
    define("db", version: 4)
    define("db", version: 5, deleted: true)
    define("db", version: 1)
    #expect(fold.targets["db"] == nil)
    later(25, nil)
    #expect(fold.deleted.isEmpty)
    define("db", version: 1)
    #expect(fold.targets["db"]?.version == 1)
  }

  @Test("A restated deletion is kept, so that a fold that missed the first one cannot bring the target back")
  mutating func restatedDeletion() {
    define("db", version: 5, deleted: true)
    for _ in 0..<5 {
      later(20, .definition(DefinitionMessage(id: "db", version: 5, definition: nil, restates: true)))
    }
    define("db", version: 4)
    #expect(fold.targets["db"] == nil)
    #expect(fold.deleted["db"]?.version == 5)
  }

  @Test("Of too many deletions the latest are kept")
  mutating func manyDeletions() {
    for number in 0...FleetLimits.deletedTargets { define("t\(number)", version: 2, deleted: true) }
    later(1, nil)
    #expect(fold.deleted.count == FleetLimits.deletedTargets)
    #expect(fold.deleted["t0"] == nil)
  }

  @Test("The last proposal of a target is forgotten when the stream has dropped it")
  mutating func oldProposal() {
    define("db")
    apply(verdict(.up, basis: 1, prev: 0))
    #expect(fold.lastProposals["db"]?.sequence == 2)
    define("db", version: 2, deleted: true)
    later(25, nil)
    #expect(fold.lastProposals.isEmpty)
  }

  @Test("A lost agent abstains until the stream has dropped it, whatever message is next")
  mutating func oldLoss() {
    define("db")
    hello("a")
    hello("b")
    let attributes = NodeHello(role: .agent, version: "1")
    apply(.node(NodeMessage(id: "b", .lost(hello: 3, attributes: attributes, by: "r"))))
    #expect(fold.targets["db"]?.assigned == ["a", "b"])
    later(25, nil)
    #expect(fold.nodes["b"] == nil)
    #expect(fold.targets["db"]?.assigned == ["a"])
  }

  @Test("Cells beyond the limit of an agent are not kept")
  mutating func manyCells() {
    for number in 0..<FleetLimits.cellsPerAgent + 100 { say("a", ["t\(number)": .up]) }
    #expect(fold.nodes["a"]?.cells.count == FleetLimits.cellsPerAgent)
    say("a", ["t0": .down])
    #expect(fold.nodes["a"]?.cells["t0"]?.state == .down)
  }

  @Test("An agent ends a check whose definition is missing for longer than a deletion is stored")
  mutating func endedChecks() {
    define("db")
    apply(
      .node(
        NodeMessage(
          id: "b", .hello(NodeHello(role: .agent, address: "tcp://b:1", version: "1"), restates: false))))
    let checked = ["db", "old", "mesh.b", "mesh.c"]
    #expect(fold.endedChecks(of: "a", among: checked, readFor: .seconds(1)) == [])
    #expect(fold.endedChecks(of: "a", among: checked, readFor: .seconds(60)) == ["mesh.c"])
    #expect(fold.endedChecks(of: "a", among: checked, readFor: .seconds(90_000)) == ["mesh.c", "old"])
  }

  @Test("A verdict whose definition the stream has dropped counts when the definition is restated")
  mutating func droppedDefinition() {
    sequence = 100
    #expect(apply(verdict(.down, basis: 90, prev: 50)).count == 1)
    var spec = TargetSpec()
    spec.id = "db"
    spec.target = "tcp://db:5432"
    let definition = FleetTarget(spec: spec)
    apply(.definition(DefinitionMessage(id: "db", version: 3, definition: definition, restates: true)))
    #expect(fold.targets["db"]?.verdict?.message.to == .down)
    #expect(apply(verdict(.up, basis: 101, prev: 101, from: .down)).count == 1)
    define("db", version: 4, deleted: true)
    #expect(apply(verdict(.down, basis: 103, prev: 103, from: .up)).isEmpty)
    define("db", version: 5)
    #expect(fold.targets["db"]?.verdict == nil)
  }
}
