import StatusPage
import Testing

@Suite struct StatusPageTests {
  private let text = String(decoding: StatusPage.document.bytes, as: UTF8.self)

  @Test(arguments: [
    (StatusPage.document, "app.js"), (StatusPage.fleetDocument, "fleet.js"),
  ])
  func documentsNameEmbeddedFilesOnly(document: StatusPage.File, script: String) {
    let text = String(decoding: document.bytes, as: UTF8.self)
    let names = text.split(separator: "\"").filter { $0.hasPrefix("page/") }.map {
      $0.split(separator: "/").last.map(String.init) ?? ""
    }
    #expect(names.count >= 2)
    for name in names { #expect(StatusPage.files[name] != nil, "\(name) is not embedded") }
    #expect(!text.contains("{{"))
    #expect(text.contains("page/\(StatusPage.build)/\(script)"))
  }

  @Test func documentContainsItsStyle() {
    #expect(text.contains("<style>\(StatusPage.style)</style>") && !StatusPage.style.contains("<"))
  }

  @Test func everyFileHasAType() {
    #expect(StatusPage.files.count == 10)
    for file in StatusPage.files.values {
      #expect(!file.bytes.isEmpty)
      #expect(file.contentType != "application/octet-stream", "\(file.name) has no content type")
    }
  }

  @Test func buildIsTwelveHexadecimalDigits() {
    #expect(StatusPage.build.count == 12)
    let isHexadecimal = StatusPage.build.allSatisfy { $0.isHexDigit }
    #expect(isHexadecimal)
  }

  /// The page's policy forbids these; a browser would only report them at run time.
  @Test(arguments: [
    "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "http://", "https://",
    " style=", "javascript:",
  ])
  func scriptsAvoid(_ forbidden: String) {
    for file in StatusPage.files.values where file.name.hasSuffix(".js") || file.name.hasSuffix(".css") {
      #expect(!String(decoding: file.bytes, as: UTF8.self).contains(forbidden), "\(file.name) contains \(forbidden)")
    }
    #expect(forbidden == "http://" || !text.contains(forbidden))
  }
}
