package import EventStreams
internal import History
internal import NetworkReachability
package import JSONFormat

/// The frames of an event stream (WHATWG HTML, "Server-sent events").
///
/// Encoded JSON contains no line breaks, so one `data` line is sufficient.
package enum SSEFrame {
  /// How long a client waits before it reconnects, in milliseconds.
  static let retryMilliseconds = 3000

  /// Returns an event with its data, and with an id if it is part of the history.
  package static func event(_ name: String, id: EventID? = nil, _ data: JSON) -> [UInt8] {
    event(name, id: id, data.bytes)
  }

  /// Returns an event with data that is already encoded.
  package static func event(_ name: String, id: EventID? = nil, _ data: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    if let id { bytes += "id: \(id)\n".utf8 }
    bytes += "event: \(name)\ndata: ".utf8
    bytes += data
    bytes += "\n\n".utf8
    return bytes
  }

  /// The field that sets the client's reconnection time; a part of the frame that follows.
  ///
  /// Some clients deliver an empty message for a frame without data.
  package static let retry = Array("retry: \(retryMilliseconds)\n".utf8)

  /// A comment, which keeps the connection open through proxies.
  ///
  /// It is a line and not a frame, and may precede any frame.
  package static let comment = Array(":\n".utf8)

  /// Returns an id without an event, which advances a filtered stream's id past the events that it skips.
  package static func position(epoch: String) -> EventStreamResponse.Heartbeat.Position {
    .init(prefix: Array("id: \(epoch)-".utf8), suffix: Array("\n\n".utf8))
  }
}

extension EventLog.Entry {
  init(_ event: Event) {
    let data = event.data.bytes
    let frame = SSEFrame.event(event.type.name, id: event.id, data)
    // A line end and an empty line follow the data.
    let end = frame.count - 2
    self.init(
      id: event.id.sequence, kind: event.type.rawValue,
      labels: EventLog.Labels(topic: event.target.map(EventLog.label) ?? 0), bytes: frame,
      data: end - data.count..<end)
  }

  init(_ event: StoredEvent) {
    self.init(
      id: event.sequence, kind: min(event.kind, EventLog.highestKind),
      labels: EventLog.Labels(topic: HistorySubject.targetID(in: event.subject).map(EventLog.label) ?? 0),
      bytes: event.body, data: event.data)
  }
}

extension StoredEvent {
  private static let dataField = Array("data: ".utf8)

  /// Where the data is in the row, which has the event's frame; empty for a row without data.
  package var data: Range<Int> {
    var start = 0
    while start < body.count {
      let end = body[start...].firstIndex(of: UInt8(ascii: "\n")) ?? body.count
      if end < body.count, body[start..<end].starts(with: Self.dataField) { return start + Self.dataField.count..<end }
      start = end + 1
    }
    return 0..<0
  }
}
