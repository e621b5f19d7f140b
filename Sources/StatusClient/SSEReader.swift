/// Reads the frames of an event stream (WHATWG HTML, "Server-sent events") from parts of any length.
package struct SSEReader {
  package struct Event: Equatable, Sendable {
    /// The type; `message` by default.
    package var name = "message"
    /// The data lines, joined by line breaks.
    package var data = ""
  }

  /// The id of the last complete frame that has one, for `Last-Event-ID`; nil before the first one.
  package private(set) var lastID: String?
  /// The id of the frame that is being read.
  private var id: String?
  private var line: [UInt8] = []
  private var name = ""
  private var data: [String] = []
  private var frameBytes = 0

  /// Creates a reader at the beginning of a stream.
  package init() {}

  /// Reads a part; returns the events that are complete, or nil when a frame exceeds the limit.
  package mutating func read(_ part: [UInt8]) -> [Event]? {
    var events: [Event] = []
    for byte in part {
      frameBytes += 1
      guard frameBytes <= Limits.frameBytes else { return nil }
      guard byte == UInt8(ascii: "\n") else {
        line.append(byte)
        continue
      }
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if let event = endLine() { events.append(event) }
      line.removeAll(keepingCapacity: true)
    }
    return events
  }

  /// Forgets an incomplete frame, because a new connection begins with a new one.
  package mutating func reset() {
    line.removeAll()
    endFrame()
  }

  private mutating func endLine() -> Event? {
    guard !line.isEmpty else {
      defer { endFrame() }
      // A frame without data has no event, and may still have an id.
      if let id { lastID = id }
      return data.isEmpty ? nil : Event(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"))
    }
    let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    var value = parts.count > 1 ? parts[1] : []
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    let text = String(decoding: value, as: UTF8.self)
    switch String(decoding: parts[0], as: UTF8.self) {
    case "event": name = text
    case "data": data.append(text)
    case "id": id = text
    default: break
    }
    return nil
  }

  private mutating func endFrame() {
    id = nil
    name = ""
    data.removeAll(keepingCapacity: true)
    frameBytes = 0
  }
}
