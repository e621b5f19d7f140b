import History
import Events
import JSONFormat

@testable import StatusAPI

/// Text in an event's data: a client that reads as WHATWG HTML says gets one event with exactly that text.
enum StreamTarget {
  static func play(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let data = JSON.members(["text": .string(text), "list": .list([text, text])])
    let id = EventID(epoch: "0123abcd", sequence: UInt64(bytes.count))
    let events = dispatch(SSEFrame.retry + SSEFrame.event("status", id: id, data) + SSEFrame.comment)
    precondition(events.count == 1, "one event is one event")
    precondition(events[0].name == "status" && events[0].id == "\(id)" && events[0].data == data.bytes)
    let frame = SSEFrame.event("status", id: id, data)
    let row = StoredEvent(sequence: id.sequence, time: 0, kind: 0, subject: "", body: frame)
    precondition(Array(frame[row.data]) == data.bytes)
    precondition(!data.bytes.contains { $0 < 0x20 || $0 == 0x7F }, "data holds no control character")
    if let parsed = EventID(text) { precondition(EventID("\(parsed)") == parsed, "an id is written as it is read") }
  }

  private struct Event {
    var name = ""
    var id = ""
    var data: [UInt8] = []
  }

  /// "Interpreting an event stream", as far as our frames need it.
  private static func dispatch(_ bytes: [UInt8]) -> [Event] {
    var events: [Event] = []
    var event = Event()
    for line in bytes.split(omittingEmptySubsequences: false, whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      if line.isEmpty {
        if !event.data.isEmpty { events.append(event) }
        event = Event()
        continue
      }
      let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count < 2 ? [] : parts[1].first == 0x20 ? parts[1].dropFirst() : parts[1]
      switch String(decoding: parts[0], as: UTF8.self) {
      case "event": event.name = String(decoding: value, as: UTF8.self)
      case "id": event.id = String(decoding: value, as: UTF8.self)
      case "data": event.data += event.data.isEmpty ? Array(value) : [0x0A] + value
      default: break
      }
    }
    return events
  }
}
