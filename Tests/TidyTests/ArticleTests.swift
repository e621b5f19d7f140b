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
