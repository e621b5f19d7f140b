import Testing
import YAMLTree

@Suite struct RefusalTests {
  struct Case: CustomTestStringConvertible {
    let text: String
    let line: Int
    let column: Int
    let part: String

    var testDescription: String { part + ": " + String(text.prefix(30)) }
  }

  @Test(arguments: [
    Case(text: "a: 1\n---\nb: 2\n", line: 2, column: 1, part: "second document"),
    Case(text: "a: 1\n...\n---\nb: 2\n", line: 3, column: 1, part: "second document"),
    Case(text: "a: &x 1\nb: 2\n", line: 1, column: 4, part: "instead of '&x'"),
    Case(text: "a: 1\nb: *x\n", line: 2, column: 4, part: "instead of '*x'"),
    Case(text: "a: &x [1]\n", line: 1, column: 4, part: "anchors are not supported"),
    Case(text: "&x a: 1\n", line: 1, column: 1, part: "anchors are not supported"),
    Case(text: "*x : 1\n", line: 1, column: 1, part: "aliases are not supported"),
    Case(text: "a: 1\nb: 2\n\na: 3\n", line: 4, column: 1, part: "first on line 1"),
    Case(text: "a: 1\n'a': 3\n", line: 2, column: 1, part: "the key 'a' is given twice"),
    Case(text: "x:\n  - {k: 1, j: 2, k: 3}\n", line: 2, column: 18, part: "first on line 2"),
    Case(text: "[a, b]: 1\n", line: 1, column: 1, part: "a key must be"),
    Case(text: "? {a: b}\n: 1\n", line: 1, column: 3, part: "a key must be"),
    Case(text: "a: !env HOME\n", line: 1, column: 4, part: "the tag '!env'"),
    Case(text: "a: !!binary AAAA\n", line: 1, column: 4, part: "tag:yaml.org,2002:binary"),
    Case(text: "a: !!set {x}\n", line: 1, column: 4, part: "tag:yaml.org,2002:set"),
    Case(text: "a: !!str [x]\n", line: 1, column: 4, part: "tag:yaml.org,2002:str"),
    Case(text: "a: [1, 2\nb: 3\n", line: 2, column: 2, part: "while parsing a flow sequence"),
    Case(text: "a: 1\n\tb: 2\n", line: 2, column: 1, part: "found a tab character"),
    Case(text: "a: 'x\n", line: 2, column: 1, part: "quoted scalar"),
    Case(text: "a: 1\n b: 2\n", line: 2, column: 3, part: "mapping values are not allowed"),
    Case(text: "a: 1\nb: \u{1}\n", line: 2, column: 4, part: "control characters are not allowed"),
    Case(text: "a: \"\\ud800\"\n", line: 1, column: 7, part: "Unicode character escape code"),
    Case(text: "%YAML 3.0\n---\na: 1\n", line: 1, column: 1, part: "incompatible YAML document"),
  ])
  func refusedWithItsPlace(expected: Case) {
    do {
      let node = try YAMLNode.parse(expected.text)
      Issue.record("was read as \(node.map(outline) ?? "nothing")")
    } catch {
      #expect(error.line == expected.line, "\(error)")
      #expect(error.column == expected.column, "\(error)")
      #expect(error.message.contains(expected.part), "\(error)")
    }
  }

  @Test(
    arguments: [
      ([0xC3, 0x28], 4), ([0x80], 4), ([0xED, 0xA0, 0x80], 4), ([0xC3, 0xA9, 0xFF], 5), ([0xF4, 0x90, 0x80, 0x80], 4),
      ([0xC3], 4),
    ] as [([UInt8], Int)])
  func bytesThatAreNotUTF8(bytes: [UInt8], column: Int) {
    let error = #expect(throws: YAMLError.self) { try YAMLNode.parse(Array("a: 1\nb: ".utf8) + bytes) }
    #expect(error?.line == 2)
    #expect(error?.column == column)
    #expect(error?.message.contains("UTF-8") == true)
  }

  @Test func utf16IsNotGuessed() {
    #expect(throws: YAMLError.self) { try YAMLNode.parse([0xFF, 0xFE, 0x61, 0x00]) }
  }

  @Test(arguments: ["[", "{a: ", "- ", "? "])
  func depthIsBounded(opening: String) throws {
    let error = #expect(throws: YAMLError.self) {
      try YAMLNode.parse(String(repeating: opening, count: 100_000))
    }
    let message = try #require(error?.message)
    #expect(message.contains("64 levels") || message.contains("a key must be"), "\(message)")
  }

  @Test func sixtyFourLevelsAreRead() throws {
    let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    #expect(try YAMLNode.parse(deep) != nil)
    let error = #expect(throws: YAMLError.self) { try YAMLNode.parse("[" + deep + "]") }
    #expect(error?.column == 65)
  }

  @Test func sizeIsBounded() throws {
    let filler = String(repeating: "x", count: (1 << 22) - 3)
    #expect(try YAMLNode.parse("# " + filler + "\n") == nil)
    let error = #expect(throws: YAMLError.self) { try YAMLNode.parse("# " + filler + "\n\n") }
    #expect(error?.message.contains("4194305 bytes") == true)
  }

  @Test func theDescriptionIsWhatEditorsJumpTo() {
    #expect(YAMLError(line: 3, column: 7, message: "no").description == "3:7: no")
  }
}
