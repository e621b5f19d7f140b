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
    let words = try Self.words(dictionary, enumeration.list, of: "fleet/words.js")
    for value in values { #expect(words[value]?.isEmpty == false, "\(value)") }
  }

  @Test func bothLanguagesHaveTheSameKeys() throws {
    let lists = Set(Self.enumerations.map(\.list)).union(["flags", "phases", "units", "page"])
    let ofFleet = ["verdicts", "agentStates", "reasons", "page"]
    let all: [(list: String, file: String?)] =
      lists.map { ($0, nil) } + ofFleet.map { ($0, "fleet/words.js") }
    for (list, file) in all {
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

  /// The entries of a list in a file of words, whose keys and texts are on the right-hand side of `const NAME = {`; without
  /// a file, in that of the language.
  private static func words(
    _ dictionary: String, _ list: String, of file: String? = nil
  ) throws -> [String: String] {
    let ofLanguage = dictionary == "EN" ? "common/english.js" : "common/chinese.js"
    let script = try #require(StatusPage.modules[file ?? ofLanguage])
    let start = try #require(script.firstRange(of: "const \(dictionary) = {"))
    let part = try #require(
      script[start.upperBound...].firstMatch(of: try Regex("\\n  \(list): \\{((?:\"[^\"]*\"|[^\"}])*)\\}")))
    let entries = try #require(part.output[1].substring)
    return Dictionary(
      entries.matches(of: /(\w+):\s*"([^"]*)"/).map { (String($0.output.1), String($0.output.2)) }
    ) { $1 }
  }
}
