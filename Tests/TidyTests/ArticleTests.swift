import Testing

@Suite("Documentation articles")
struct ArticleTests {
  private let tree: SourceTree

  init() throws { tree = try SourceTree() }

  @Test("Swift in articles also appears in a test")
  func code() {
    let tested = Set(
      tree.files.filter { !$0.isSource }.flatMap { file in
        file.text.split(separator: "\n").map { Self.trimmed($0) }
      })
    let articles = tree.articles
    #expect(articles.count >= 10)
    var lines = 0
    for (path, text) in articles {
      let shown = Self.swiftLines(text)
      lines += shown.count
      let missing = shown.filter { !tested.contains($0) }
      #expect(missing.isEmpty, "\(path)")
    }
    #expect(lines > 40, "the check finds libraries")
  }

  @Test("Links to symbols name declarations")
  func links() {
    let sources = tree.files.filter(\.isSource)
    let links = SymbolLinks(sources)
    let texts = sources.map { ($0.path, $0.text) } + tree.articles
    let stale = texts.flatMap { path, text in
      links.stale(in: text, path: path, module: path.split(separator: "/").dropFirst().first.map(String.init) ?? "")
    }
    #expect(stale == [])
  }

  @Test("Links to other names, members and modules are found")
  func linkChecker() {
    let files = [
      SourceFile(
        path: "Sources/A/A.swift",
        text: "struct B {\n  var c, d: Int\n  enum E {\n    case f(G), h\n  }\n}\nextension B {\n  func i() {}\n}\n"),
      SourceFile(path: "Sources/J/K.swift", text: "final class K {\n  init() {}\n}\nfunc l() {}\n"),
    ]
    let links = SymbolLinks(files)
    let good = "``A`` ``B`` ``B/c`` ``B/E/h`` ``E/f(_:)`` ``B/i()`` ``J/K/init()`` ``K`` ``d``"
    #expect(links.stale(in: good, path: "x", module: "A") == [])
    #expect(
      links.stale(in: "``M``\n``B/l`` ``K/i()`` ``l()``", path: "x", module: "A") == [
        "x:1: M", "x:2: B/l", "x:2: K/i()", "x:2: l()",
      ])
    #expect(links.stale(in: "``l()`` ``i()``", path: "x", module: "J") == ["x:1: i()"])
  }

  @Test("The checker reads Swift fences only")
  func checker() {
    #expect(Self.swiftLines("a\n```swift\n  let a = 1\n\nb()\n```\nc\n```console\nd\n```\n") == ["let a = 1", "b()"])
  }

  static func swiftLines(_ text: String) -> [String] {
    var lines: [String] = []
    var isInside = false
    for line in text.split(separator: "\n") {
      if line.hasPrefix("```") {
        isInside = !isInside && line == "```swift"
      } else if isInside {
        lines.append(trimmed(line))
      }
    }
    return lines
  }

  private static func trimmed(_ line: Substring) -> String { String(line.drop { $0 == " " }) }
}
