import TestSupport
import Testing

@testable import Probers

@Suite("Decoding of DNS responses")
struct DNSResponseTests {
  /// A query for `a.test` of a type.
  private func question(_ type: UInt16) -> [UInt8] {
    [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + DNSMessage.encoded("a.test") + DNSMessage.pair(type) + [0, 1]
  }

  private func answer(_ type: UInt16, _ data: [UInt8]) -> [UInt8] {
    var bytes = question(type)
    bytes[2] = 0x81
    bytes[7] = 1
    return bytes + [0xC0, 12] + DNSMessage.pair(type) + [0, 1, 0, 0, 0, 60] + DNSMessage.pair(UInt16(data.count)) + data
  }

  static let texts: [(UInt16, [UInt8], String)] = [
    (1, [192, 0, 2, 1], "192.0.2.1"),
    (2, DNSMessage.encoded("ns.test"), "ns.test."),
    (5, [1, 0x62, 0xC0, 14], "b.test."),
    (
      6, DNSMessage.encoded("ns.test") + DNSMessage.encoded("me.test") + [UInt8](repeating: 0, count: 19) + [7],
      "ns.test. me.test. 0 0 0 0 7"
    ),
    (12, DNSMessage.encoded("host.test"), "host.test."),
    (15, [0, 10] + DNSMessage.encoded("mx.test"), "10 mx.test."),
    (16, [3, 0x61, 0x22, 0x07, 1, 0x62], #""a\"\007" "b""#),
    (28, [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1], "2001:db8::1"),
    (33, [0, 1, 0, 2, 0, 80] + DNSMessage.encoded("www.test"), "1 2 80 www.test."),
    (257, [0, 5] + Array("issueca.test".utf8), #"0 issue "ca.test""#),
    (1, [192, 0, 2], "\\# 3 c00002"),
    (99, [1, 0xFF], "\\# 2 01ff"),
  ]

  @Test("A format error need not repeat the question")
  func withoutTheQuestion() {
    func bare(id: UInt8 = 0x34, code: UInt8 = 1, answers: UInt8 = 0) -> [UInt8] {
      [0x12, id, 0x81, code, 0, 0, 0, answers, 0, 0, 0, 0]
    }
    #expect(DNSResponse(bare(), to: question(1))?.code == "FORMERR")
    #expect(DNSResponse(bare(id: 0x35), to: question(1)) == nil)
    #expect(DNSResponse(bare(code: 0), to: question(1)) == nil)
    #expect(DNSResponse(bare(answers: 1), to: question(1)) == nil)
  }

  @Test(arguments: texts)
  func text(type: UInt16, data: [UInt8], text: String) throws {
    let parsed = try #require(DNSResponse(answer(type, data), to: question(type)))
    #expect(parsed.answers == [text])
    #expect(parsed.counts == [1, 0, 0])
  }

  @Test("Truncated and changed responses are safe to decode")
  func everyCut() {
    for (type, data, _) in Self.texts {
      let whole = answer(type, data)
      for length in 0..<whole.count {
        #expect(DNSResponse(Array(whole.prefix(length)), to: question(type)) == nil)
      }
      for index in whole.indices {
        for value in [UInt8(0), 0x3F, 0xC0, 0xFF] {
          var changed = whole
          changed[index] = value
          _ = DNSResponse(changed, to: question(type))
        }
      }
    }
  }

  @Test("Responses to other queries are ignored")
  func unmatchedResponses() {
    let ours = answer(1, [192, 0, 2, 1])
    #expect(DNSResponse(ours, to: question(28)) == nil)
    #expect(DNSResponse(question(1), to: question(1)) == nil)
    var other = ours
    other[1] ^= 1
    #expect(DNSResponse(other, to: question(1)) == nil)
    var shouting = ours
    shouting[13] = UInt8(ascii: "A")
    #expect(DNSResponse(shouting, to: question(1)) != nil, "case is kept by most servers, and means nothing")
  }

  @Test func aNameThatPointsAtItself() {
    let loop = answer(5, [0xC0, 36])
    #expect(DNSResponse(loop, to: question(5))?.answers.first?.hasPrefix("\\#") != false)
  }
}
