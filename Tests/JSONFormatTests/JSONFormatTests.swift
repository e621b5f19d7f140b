import JSONFormat
import Testing

@Suite("JSON texts become trees, or complaints with a place")
struct JSONFormatTests {
  @Test("Every kind of value, members in their order")
  func values() throws {
    let text = #" {"z":null,"a":[true,false,-7,1.5e2,"\u00e9\uD83D\uDE00\n",{}],"":9223372036854775807} "#
    #expect(
      try JSON.parse(Array(text.utf8))
        == .object([
          .init(name: "z", value: .null),
          .init(
            name: "a",
            value: .array([.bool(true), .bool(false), .integer(-7), .number(150), .string("é😀\n"), .object([])])),
          .init(name: "", value: .integer(.max)),
        ]))
    #expect(try JSON.parse(Array("7".utf8)) == .integer(7))
    #expect(try JSON.parse(Array(#"{"b":1,"a":2}"#.utf8))["a"] == .integer(2))
  }

  struct Case: CustomTestStringConvertible {
    let text: String
    var line = 1
    var column = 1
    let part: String
    var testDescription: String { "\(part): \(text.prefix(30))" }
  }

  @Test(
    "What is refused, and where",
    arguments: [
      Case(text: "", part: "near end of file"),
      Case(text: "  ", column: 2, part: "near end of file"),
      Case(text: "{", part: "near end of file"),
      Case(text: "[1,]", column: 4, part: "near ']'"),
      Case(text: "{\"a\":1,}", column: 8, part: "near '}'"),
      Case(text: "{\"a\":1,\n \"a\":2}", line: 2, column: 4, part: "duplicate object key"),
      Case(text: "[1] 2", column: 5, part: "end of file expected"),
      Case(text: "{'a':1}", column: 2, part: "near '''"),
      Case(text: "{a:1}", column: 2, part: "near 'a'"),
      Case(text: "[NaN]", column: 4, part: "invalid token"),
      Case(text: "[01]", column: 2, part: "invalid token"),
      Case(text: "[+1]", column: 2, part: "invalid token"),
      Case(text: "[.5]", column: 2, part: "invalid token"),
      Case(text: "[1.]", column: 3, part: "invalid token"),
      Case(text: "[1e999]", column: 6, part: "real number overflow"),
      Case(text: "[9223372036854775808]", column: 20, part: "too big integer"),
      Case(text: "[\"\\ud800\"]", column: 9, part: "invalid Unicode"),
      Case(text: "[\"\\u0000\"]", column: 9, part: "\\u0000 is not allowed"),
      Case(text: "[\"\t\"]", column: 2, part: "control character"),
      Case(text: "[\"a]", column: 4, part: "premature end of input"),
      Case(text: "// no\n1", part: "near '/'"),
      Case(text: "\u{feff}1", part: "near"),
      Case(text: "\"\\x\"", column: 3, part: "invalid escape"),
    ])
  func refused(expected: Case) {
    do {
      let node = try JSON.parse(Array(expected.text.utf8))
      Issue.record("was read as \(node)")
    } catch {
      #expect(error.message.contains(expected.part), "\(error)")
      #expect([error.line, error.column] == [expected.line, expected.column], "\(error)")
    }
  }

  @Test(
    "Bytes that are not UTF-8 are refused",
    arguments: [[0x80], [0xC3, 0x28], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0x80], [0x00]])
  func notUTF8(bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try JSON.parse(Array("\"".utf8) + bytes + Array("\"".utf8)) }
  }

  @Test("Depth is bounded, and a text that is only depth is refused without harm")
  func depth() throws {
    func nested(_ depth: Int) -> [UInt8] {
      Array(String(repeating: "[", count: depth).utf8) + Array(String(repeating: "]", count: depth).utf8)
    }
    _ = try JSON.parse(nested(32))
    #expect(throws: JSONError.self) { try JSON.parse(nested(33)) }
    #expect(throws: JSONError.self) { try JSON.parse(nested(500_000)) }
  }

  @Test("Any cut and any changed byte of a document ends in a tree or a complaint")
  func mutilated() {
    let bytes = Array(#"{"id":"db","n":[1,-2.5e1,true,null],"s":"é\u00e9\\"}"#.utf8)
    for end in bytes.indices { #expect(throws: JSONError.self) { try JSON.parse(Array(bytes[..<end])) } }
    var read = 0
    for index in bytes.indices {
      for byte: UInt8 in [0x00, 0x22, 0x5c, 0x7b, 0x7d, 0x80, 0xff] {
        var changed = bytes
        changed[index] = byte
        if (try? JSON.parse(changed)) != nil { read += 1 }
      }
    }
    #expect(read > 0 && read < bytes.count * 7)
  }

  @Test("An array that is encoded piece by piece is that of the tree")
  func arrayEncoder() {
    var numbers = JSONArrayEncoder()
    var texts = JSONArrayEncoder()
    #expect(numbers.bytes == JSON.array([]).bytes)
    for value: Int64? in [0, nil, -7, .max, .min, 10] { numbers.append(value) }
    for text in ["", "a\"\\\n\u{1}", "é😀"] { texts.append(text) }
    let tree = JSON.members([
      "n": .array([0, nil, -7, .integer(.max), .integer(.min), 10]),
      "t\"": .list(["", "a\"\\\n\u{1}", "é😀"]), "b": true,
    ])
    #expect(
      JSON.object(encoded: [("n", numbers.bytes), ("t\"", texts.bytes), ("b", JSON.bool(true).bytes)]) == tree.bytes)
  }
}
