import Testing
import YAMLTree

@Suite struct YAMLTreeTests {
  @Test func blockAndFlowGiveTheSameTree() throws {
    let block = try #require(try YAMLNode.parse("a:\n  - 1\n  - b: c\nd: {}\n"))
    let flow = try #require(try YAMLNode.parse("{a: [1, {b: c}], d: {}}"))
    #expect(outline(block) == "{a: [1, {b: c}], d: {}}")
    #expect(outline(flow) == outline(block))
  }

  @Test func positionsCountFromOneInScalars() throws {
    let root = try #require(try YAMLNode.parse("# note\nüber: ä\nlist:\n  - one\n  - {k: v}\n"))
    let entries = try #require(root.entries)
    #expect(entries.map(\.key.position) == [YAMLPosition(line: 2, column: 1), YAMLPosition(line: 3, column: 1)])
    #expect(entries[0].value.position == YAMLPosition(line: 2, column: 7))
    let elements = try #require(root["list"]?.elements)
    #expect(elements.map(\.position) == [YAMLPosition(line: 4, column: 5), YAMLPosition(line: 5, column: 5)])
    #expect(elements[1]["k"]?.position == YAMLPosition(line: 5, column: 9))
  }

  @Test(arguments: [
    ("yes", true), ("'yes'", false), ("\"1\"", false), ("|\n  1\n", false), (">\n  1\n", false), ("1", true),
    ("!!str 1", false), ("! 1", false), ("!!int 1", true), ("~", true), ("", true),
  ])
  func onlyPlainScalarsMayBeGuessed(text: String, isPlain: Bool) throws {
    let root = try #require(try YAMLNode.parse("key: \(text)"))
    guard case .scalar(_, let plain, _) = try #require(root["key"]).value else {
      Issue.record("not a scalar")
      return
    }
    #expect(plain == isPlain)
  }

  @Test func coreTagsAreKept() throws {
    let root = try #require(try YAMLNode.parse("!!map {a: !!int 1, b: !!seq [!!float 2]}"))
    #expect(root["a"]?.value == .scalar("1", isPlain: true, tag: "tag:yaml.org,2002:int"))
    #expect(root["b"]?.elements?.first?.value == .scalar("2", isPlain: true, tag: "tag:yaml.org,2002:float"))
  }

  @Test func multilineScalars() throws {
    let text = "a: |\n  one\n   two\n\nb: >-\n  one\n  two\nc: \"x\\\n  y\\0z\\u00e9\"\nd: one\n  two\n"
    let root = try #require(try YAMLNode.parse(text))
    #expect(root["a"]?.scalar == "one\n two\n")
    #expect(root["b"]?.scalar == "one two")
    #expect(root["c"]?.scalar == "xy\0zé")
    #expect(root["d"]?.scalar == "one two")
  }

  @Test(arguments: ["", "\n\n", "# only a comment\n", "---\n", "--- # nothing\n...\n", "\u{FEFF}", "   \n"])
  func documentsWithoutContentAreNil(text: String) throws {
    #expect(try YAMLNode.parse(text) == nil)
  }

  @Test func aByteOrderMarkDoesNotShiftColumns() throws {
    let root = try #require(try YAMLNode.parse("\u{FEFF}a: b\nc: d"))
    #expect(root.entries?.first?.key.position == YAMLPosition(line: 1, column: 1))
    #expect(root.entries?.first?.value.position == YAMLPosition(line: 1, column: 4))
  }

  @Test(arguments: ["\r\n", "\r", "\n"])
  func everyLineBreakCountsOnce(newline: String) throws {
    let root = try #require(try YAMLNode.parse(["a: 1", "# c", "b:", "  - x"].joined(separator: newline)))
    #expect(outline(root) == "{a: 1, b: [x]}")
    #expect(root["b"]?.position == YAMLPosition(line: 4, column: 3))
  }

  @Test func orderIsKept() throws {
    let names = (0..<200).map { "k\(($0 * 37) % 200)" }
    let root = try #require(try YAMLNode.parse(names.map { "\($0): 1" }.joined(separator: "\n")))
    #expect(root.entries?.map(\.name) == names)
  }

  @Test func accessorsSayNilForOtherKinds() throws {
    let root = try #require(try YAMLNode.parse("a: [1]"))
    #expect(root.scalar == nil)
    #expect(root.elements == nil)
    #expect(root["b"] == nil)
    #expect(root["a"]?.entries == nil)
    #expect(root["a"]?["x"] == nil)
  }
}

/// The tree in flow style, for comparisons.
func outline(_ node: YAMLNode) -> String {
  switch node.value {
  case .scalar(let text, _, _): text
  case .sequence(let nodes): "[" + nodes.map(outline).joined(separator: ", ") + "]"
  case .mapping(let entries):
    "{" + entries.map { "\(outline($0.key)): \(outline($0.value))" }.joined(separator: ", ") + "}"
  }
}
