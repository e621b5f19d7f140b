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

  @Test(
    "Times that no clock has, of messages and in them, do not end the process", arguments: [Int64.min, .max, -1, 0])
  mutating func extremeTimes(_ time: Int64) {
    define("db")
    hello("a")
    say("a", ["db": .down])
    for since in [Int64.min, .max, -1] {
      var message = VerdictMessage(
        target: "db", stream: 1, from: nil, to: .down, votes: FleetVoteCounts(), basis: 1, attempt: 0, prev: 0, by: "r")
      message.since = Timestamp(microseconds: since)
      var copy = fold
      _ = copy.apply(.verdict(message), sequence: sequence + 1, time: time)
      _ = copy.apply(.node(NodeMessage(id: "a", .bye)), sequence: .max, time: time)
      #expect(copy.targets["db"]?.verdict?.message.to == .down)
      #expect(copy.time >= 0)
    }
    var window = FleetEventWindow(limit: 2)
    window.begin(at: .max)
    #expect(window.isEmpty)
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
    hello("a")
    define("db")
    apply(
      .node(
        NodeMessage(
          id: "b", .hello(NodeHello(role: .agent, address: "tcp://b:1", version: "1"), restates: false))))
    let checked = ["db", "old", "mesh.b", "mesh.c"]
    #expect(FleetRoster(fold, of: "a").ended(checked, readFor: .seconds(1)) == [])
    #expect(FleetRoster(fold, of: "a").ended(checked, readFor: .seconds(60)) == ["mesh.c"])
    #expect(FleetRoster(fold, of: "a").ended(checked, readFor: .seconds(90_000)) == ["old", "mesh.c"])
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
