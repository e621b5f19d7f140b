import Testing

/// docs/explanation/parity.md names a test for every behaviour of the parents; these tests hold it to that.
@Suite("The table of parity is true")
struct ParityTests {
  /// The parents' cases and ours, by their letters and how many of each there are.
  static let cases: [(letters: String, count: Int, digits: Int)] = [
    ("A", 19, 2), ("AO", 7, 1), ("B", 9, 2), ("C", 2, 2), ("D", 3, 2), ("E1", 3, 1), ("E2", 11, 1), ("E3", 8, 1),
    ("E4", 8, 1), ("E5", 5, 1), ("E6", 4, 1), ("E7", 4, 1), ("E8", 3, 1), ("E9", 2, 1),
  ]

  /// The table, the names of all tests, and the identifiers in them.
  private struct Documents {
    let table: ParityTable
    let names: [String]
    let tested: Set<String>

    init() throws {
      let tree = try SourceTree()
      table = ParityTable(try #require(tree.read("docs/explanation/parity.md")))
      names = tree.files.filter { !$0.isSource }.flatMap { ParityTable.testNames($0.text) }
      tested = Set(names.flatMap(ParityTable.identifiers))
    }
  }

  private static let read = Result { try Documents() }
  private let table: ParityTable
  private let names: [String]
  private let tested: Set<String>

  init() throws {
    let documents = try Self.read.get()
    (table, names, tested) = (documents.table, documents.names, documents.tested)
    try #require(table.rows.count > 80 && names.count > 200, "the table and the tests were found")
  }

  @Test("Every case has a test that bears its identifier, or a row that says why there can be none")
  func cases() {
    let all = Self.cases.flatMap { letters, count, digits in
      (1...count).map { number in
        let text = String(number)
        return "\(letters)-" + String(repeating: "0", count: max(0, digits - text.count)) + text
      }
    }
    let excused = Set(table.rows.filter { $0.verdict.hasPrefix("not on Linux: ") }.flatMap { $0.subjects })
    let untested = all.filter { !tested.contains($0) && !excused.contains($0) }
    #expect(untested.isEmpty)
    let rowless = all.filter { identifier in !table.rows.contains { $0.subjects.contains(identifier) } }
    #expect(rowless.isEmpty)
  }

  @Test("Every test that the table names exists")
  func tests() {
    let missing = table.rows.flatMap(\.tests).filter { !tested.contains($0) }
    #expect(missing.isEmpty)
    let unquoted = table.rows.flatMap(\.quotedTests).filter { quoted in
      !names.contains { ParityTable.matches($0, quoted) }
    }
    #expect(unquoted.isEmpty)
  }

  @Test("Every row has a test or a reason")
  func rows() {
    let bare = table.rows.filter { row in
      row.testCell.isEmpty && !row.verdict.hasPrefix("not on Linux") && row.verdict != "other"
    }
    #expect(bare.map(\.first).isEmpty)
  }

  @Test("The checker finds names, ranges and gaps")
  func checker() {
    let identifiers = ParityTable.identifiers("E2-9 … E2-11, AO-1 and B-03 but not PR-12 or #349")
    #expect(identifiers == ["E2-9", "E2-10", "E2-11", "AO-1", "B-03"])
    let names = ParityTable.testNames(#"@Test("one") func a() {} @Test( "two \"x\"", arguments: 1)"#)
    #expect(names == ["one", #"two "x""#])
    #expect(ParityTable.testNames("@Test func three() {}") == [])
    #expect(ParityTable.matches("Stopping keeps the block", "Stopping keeps …"))
    #expect(ParityTable.matches("posted on the main queue", "… on the main queue"))
    #expect(!ParityTable.matches("Stopping keeps the block", "Stopping keeps"))
    let head = "| | what | test | verdict |\n| --- | --- | --- | --- |\n"
    let table = ParityTable(head + "| A-01 | x | A-01 \"Y …\" | same |\n")
    #expect(table.rows.count == 1 && table.rows[0].tests == ["A-01"] && table.rows[0].quotedTests == ["Y …"])
  }
}

/// The rows of docs/explanation/parity.md.
struct ParityTable {
  struct Row {
    let first: String
    let testCell: String
    let verdict: String

    var subjects: [String] { ParityTable.identifiers(first) }
    /// The identifiers that the row says tests bear.
    var tests: [String] { ParityTable.identifiers(testCell) }
    /// The names of tests that it quotes, with `…` for what is left out.
    var quotedTests: [String] {
      testCell.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
        .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
    }
  }

  private static let verdicts = ["same", "better", "other", "not on Linux"]
  let rows: [Row]

  init(_ text: String) {
    var rows: [Row] = []
    for line in text.split(separator: "\n") where line.hasPrefix("|") {
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map(Self.trimmed)
      // The last two columns of every table but the list of parents.
      guard cells.count >= 4, let verdict = cells.last, verdict != "verdict", !verdict.hasPrefix("---") else {
        continue
      }
      guard Self.verdicts.contains(where: verdict.hasPrefix) else { continue }
      rows.append(Row(first: cells[0], testCell: cells[cells.count - 2], verdict: verdict))
    }
    self.rows = rows
  }

  private static func trimmed(_ cell: Substring) -> String {
    String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }

  /// The cases' identifiers in a text, with ranges (`A-12 … A-19`) written out.
  static func identifiers(_ text: String) -> [String] {
    var found: [String] = []
    var range: String?
    for word in text.split(whereSeparator: { " ,;()/".contains($0) }) {
      if word == "…" {
        range = found.last
        continue
      }
      guard let (letters, digits) = parts(word) else {
        range = nil
        continue
      }
      if let first = range.flatMap({ parts($0[...]) }), first.letters == letters, let from = Int(first.digits),
        let to = Int(digits), from < to
      {
        for number in (from + 1)..<to {
          let text = String(number)
          found.append("\(letters)-" + String(repeating: "0", count: max(0, first.digits.count - text.count)) + text)
        }
      }
      range = nil
      found.append(String(word))
    }
    return found
  }

  private static func parts(_ word: Substring) -> (letters: String, digits: String)? {
    let parts = word.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, ParityTests.cases.contains(where: { $0.letters == parts[0] }) else { return nil }
    guard !parts[1].isEmpty, parts[1].allSatisfy(\.isNumber) else { return nil }
    return (String(parts[0]), String(parts[1]))
  }

  /// The names that tests and suites of a file give themselves.
  static func testNames(_ text: String) -> [String] {
    ["@Test(", "@Suite("].flatMap { opening in
      var names: [String] = []
      var rest = text[...]
      while let place = rest.firstRange(of: opening) {
        rest = rest[place.upperBound...].drop { $0.isWhitespace }
        guard rest.first == "\"" else { continue }
        rest = rest.dropFirst()
        var name = ""
        while let character = rest.popFirst(), character != "\"" {
          if character == "\\", let escaped = rest.popFirst() {
            name.append(escaped)
          } else {
            name.append(character)
          }
        }
        names.append(name)
      }
      return names
    }
  }

  /// Whether a test's name is the one quoted, where `…` at an end stands for anything.
  static func matches(_ name: String, _ quoted: String) -> Bool {
    if quoted.hasSuffix(" …") { return name.contains(quoted.dropLast(2)) }
    if quoted.hasPrefix("… ") { return name.contains(quoted.dropFirst(2)) }
    return name == quoted
  }
}
