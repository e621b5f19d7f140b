import History
import JSONFormat
import Testing

@testable import Events

@Suite struct SSEFrameTests {
  /// The data of a row with a frame.
  private func stored(_ frame: [UInt8]) -> String {
    let event = StoredEvent(sequence: 7, time: 0, kind: 0, subject: "machine", body: frame)
    return String(decoding: frame[event.data], as: UTF8.self)
  }

  @Test func eventIDsRoundTrip() {
    for sequence: UInt64 in [0, 1, 42, .max] {
      let id = EventID(epoch: "6f1c2a90", sequence: sequence)
      #expect(EventID(id.description) == id)
    }
  }

  @Test(arguments: [
    "", "-", "6f1c2a90", "6f1c2a90-", "-1", "6f1c2a90-x", "6f1c2a90--1", "6f1c2a90-+1", "6f1c2a9-1", "6f1c2a900-1",
    "6f1c2a90-1-2", "6f1c2a90-1 ", " 6f1c2a90-1", "6f1c2a90-18446744073709551616", "6f1c2a90-1\n", "6f1c2a90_1",
  ])
  func invalidEventIDsAreRejected(text: String) {
    #expect(EventID(text) == nil)
  }

  @Test func frameFollowsTheEventStreamFormat() {
    let id = EventID(epoch: "6f1c2a90", sequence: 7)
    let frame = SSEFrame.event("status", id: id, .members(["a": "b\r\n\n\u{0}c"]))
    let text = String(decoding: frame, as: UTF8.self)
    #expect(text == "id: 6f1c2a90-7\nevent: status\ndata: {\"a\":\"b\\r\\n\\n\\u0000c\"}\n\n")
    let breaks = SSEFrame.event(
      "status", id: id, .members(["a": "é\u{85}b\u{2028}c\u{2029}d€\u{2027}\u{84}"]))
    #expect(
      stored(breaks)
        == "{\"a\":\"é\\u0085b\\u2028c\\u2029d€\u{2027}\\u0084\"}")
    #expect(stored(frame) == "{\"a\":\"b\\r\\n\\n\\u0000c\"}")
    #expect(SSEFrame.event("bye", .members([:])) == Array("event: bye\ndata: {}\n\n".utf8))
  }

  @Test(arguments: ["", "\n", "data", "data: ", "data: {}", "id: 1\nevent: x\n\n", "\n\n\n", "xdata: {}\n\n"])
  func rowsWithoutDataAreEmpty(text: String) {
    #expect(stored(Array(text.utf8)) == "")
  }

  @Test func dataOfARowIsItsFirstDataLine() {
    #expect(stored(Array("data: a\ndata: b\n\n".utf8)) == "a")
    #expect(stored(Array("id: 1\ndata: \n\n".utf8)) == "")
    #expect(stored(Array("\ndata: {}\n".utf8)) == "{}")
  }
}
