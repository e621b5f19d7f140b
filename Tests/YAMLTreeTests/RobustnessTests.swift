import TestSupport
import Testing
import YAMLTree

/// Whatever the bytes are, the reader answers or complains with a place; it never crashes and never loops.
@Suite struct RobustnessTests {
  static let document = """
    # A realistic configuration
    listen: ["127.0.0.1:8080", '[::1]:8080']
    log: { level: info, format: "json" }
    settle: 10ms
    allowedHosts:
      - bücher.example
      - "status.example"
    banner: |
      two lines,
        kept
    note: >-
      folded
      text
    targets:
      - id: db                       # unique
        target: tcp://10.9.0.1:8000
        interval: 5s
        labels: { env: prod, "quoted key": 'it''s' }
      - id: web
        target: https://web.internal/health?x=1#y
        labels: {}
    modules:
      api: { prober: http, expectStatus: [200, 204], expectBody: "ok\\n\\u00e9" }
    policy: { profile: default, allow: [], deny: [] }

    """

  private func survives(_ bytes: [UInt8]) {
    do {
      _ = try YAMLNode.parse(bytes)
    } catch {
      #expect(error.line >= 1 && error.column >= 1 && !error.message.isEmpty)
    }
  }

  @Test func theWholeDocumentIsRead() throws {
    let root = try #require(try YAMLNode.parse(Self.document))
    #expect(root.entries?.count == 9)
    #expect(root["targets"]?.elements?[0]["labels"]?["quoted key"]?.scalar == "it's")
    #expect(root["modules"]?["api"]?["expectBody"]?.scalar == "ok\né")
  }

  @Test func truncatedAtEveryByte() {
    let bytes = Array(Self.document.utf8)
    for count in bytes.indices { survives(Array(bytes.prefix(count))) }
  }

  @Test func everyByteReplaced() {
    let bytes = Array(Self.document.utf8)
    let intruders: [UInt8] = [0x00, 0x09, 0x0D, 0x22, 0x26, 0x2A, 0x3A, 0x5B, 0x7B, 0x7C, 0x80, 0xFF]
    for index in bytes.indices {
      var broken = bytes
      broken[index] = intruders[index % intruders.count]
      survives(broken)
    }
  }

  @Test func randomBytes() {
    var generator = SeededGenerator(seed: 0x5EED)
    let alphabet = Array("ab01 \n\n\t-:?,[]{}&*!|>'\"%@`#\\.é\r".utf8)
    for round in 0..<3_000 {
      let count = Int.random(in: 0...200, using: &generator)
      let bytes = (0..<count).map { _ in
        round.isMultiple(of: 4)
          ? UInt8.random(in: 0...255, using: &generator) : alphabet.randomElement(using: &generator) ?? 0
      }
      survives(bytes)
    }
  }
}
