import JSONFormat
import StatusClient
import Testing

@Suite("The tree of targets")
struct TargetTreeTests {
  private func lines(_ targets: [(id: String, dependsOn: String)]) throws -> [String] {
    var tree = TargetTree()
    for target in targets {
      tree.add(try JSON.parse(Array("{\"id\": \"\(target.id)\", \"dependsOn\": \(target.dependsOn)}".utf8)), target.id)
    }
    return tree.lines.map { $0.indent + $0.text }
  }

  @Test("A target is listed once, below the first one that is listed")
  func tree() throws {
    let targets = [
      ("a", #"["core"]"#), ("b", #"[{"anyOf": ["missing", "a"]}, "core"]"#), ("c", "[]"), ("core", "[]"),
      ("d", #"["core", "a"]"#),
    ]
    #expect(try lines(targets) == ["c", "core", "  a", "    b", "  d"])
  }

  @Test("Cycles, and what is no list, lose no target")
  func hostile() throws {
    let targets = [
      ("a", #"["b"]"#), ("b", #"["a"]"#), ("self", #"["self"]"#), ("odd", #"{"x": 1}"#), ("n", "[null, 5]"),
    ]
    #expect(
      try lines(targets).map { $0.trimmingPrefix(while: { $0 == " " }) }.sorted() == ["a", "b", "n", "odd", "self"])
    let chain = (0..<5_000).map { ("t\($0)", "[\"t\($0 + 1)\"]") }
    #expect(try lines(chain).count == 5_000)
  }
}
