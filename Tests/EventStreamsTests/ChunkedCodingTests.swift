import Testing

@testable import EventStreams

@Suite("ChunkedCoding")
struct ChunkedCodingTests {
  @Test("A chunk has its length in hexadecimal digits", arguments: [(1, "1"), (15, "f"), (16, "10"), (4_096, "1000")])
  func chunks(length: Int, digits: String) {
    let content = [UInt8](repeating: 97, count: length)
    #expect(ChunkedCoding.chunk(content) == Array("\(digits)\r\n".utf8) + content + Array("\r\n".utf8))
  }

  @Test("No bytes are no chunk, because an empty one ends the body")
  func empty() {
    #expect(ChunkedCoding.chunk([]) == [])
    #expect(ChunkedCoding.end == Array("0\r\n\r\n".utf8))
  }
}
