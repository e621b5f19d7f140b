import StatusPage
import Testing

/// The words of the status page against the enumerations of openapi.yaml: a value without a word in both languages would be
/// shown as its identifier.
@Suite struct PageWordsTests {
  private static let enumerations: [(list: String, path: String)] = [
    ("states", "TargetState"), ("stateHints", "TargetState"), ("reasons", "Reason"), ("reasons", "CheckReason"),
    ("causes", "Causes"), ("machine", "StatusName"), ("connectionTypes", "ConnectionType"), ("history", "HistoryState"),
    ("steps", "DiagnosisStep/properties/step"),
  ]

  @Test(arguments: ["EN", "ZH"], enumerations)
  func everyValueHasAWord(dictionary: String, enumeration: (list: String, path: String)) throws {
    let values = try OpenAPIDocument().words(enumeration.path)
    #expect(values.count >= 2, "\(enumeration.path) is no enumeration")
    let words = try Self.words(dictionary, enumeration.list)
    for value in values {
      #expect(words[value]?.isEmpty == false, "\(value) of \(enumeration.path) has no word in \(enumeration.list)")
    }
  }

  @Test(arguments: ["EN", "ZH"], [("verdicts", "FleetVerdict"), ("verdicts", "FleetCellState")])
  func everyVerdictHasAWord(dictionary: String, enumeration: (list: String, path: String)) throws {
    let values = try OpenAPIDocument().words(enumeration.path)
    #expect(values.count >= 5)
    let words = try Self.words(dictionary, enumeration.list, of: "fleetwords.js")
    for value in values { #expect(words[value]?.isEmpty == false, "\(value)") }
  }

  @Test func bothLanguagesHaveTheSameKeys() throws {
    let lists = Set(Self.enumerations.map(\.list)).union(["flags", "phases", "units", "page"])
    let ofFleet = ["verdicts", "agentStates", "reasons", "page"]
    for (list, file) in lists.map({ ($0, "words.js") }) + ofFleet.map({ ($0, "fleetwords.js") }) {
      let (english, chinese) = (try Self.words("EN", list, of: file), try Self.words("ZH", list, of: file))
      #expect(!english.isEmpty)
      #expect(Set(english.keys).symmetricDifference(chinese.keys).isEmpty, "\(list)")
      // `{name}` is replaced: a translation with other names would show the braces.
      for (key, text) in english {
        let names = { (text: String) in Set(text.matches(of: /\{\w+\}/).map { String($0.output) }) }
        #expect(names(text) == names(chinese[key] ?? ""), "\(list).\(key)")
      }
    }
  }

  /// The entries of a list in a file of words, whose keys and texts are on the right-hand side of `const NAME = {`.
  private static func words(
    _ dictionary: String, _ list: String, of file: String = "words.js"
  ) throws -> [String: String] {
    let script = String(decoding: try #require(StatusPage.files[file]).bytes, as: UTF8.self)
    let start = try #require(script.firstRange(of: "const \(dictionary) = {"))
    let part = try #require(
      script[start.upperBound...].firstMatch(of: try Regex("\\n  \(list): \\{((?:\"[^\"]*\"|[^\"}])*)\\}")))
    let entries = try #require(part.output[1].substring)
    return Dictionary(
      entries.matches(of: /(\w+):\s*"([^"]*)"/).map { (String($0.output.1), String($0.output.2)) }
    ) { $1 }
  }
}
