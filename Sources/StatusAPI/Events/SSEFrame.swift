package import JSONFormat
internal import EventStreams
internal import EmbeddedHTTPServer

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
  static func event(_ name: String, id: EventID? = nil, _ data: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    if let id { bytes += "id: \(id)\n".utf8 }
    bytes += "event: \(name)\ndata: ".utf8
    bytes += data
    bytes += "\n\n".utf8
    return bytes
  }

  /// Returns the data of a frame from ``event(_:id:_:)``.
  package static func data(of frame: [UInt8]) -> [UInt8] {
    var rest = frame[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      if rest.starts(with: dataField) { return Array(rest[..<end].dropFirst(dataField.count)) }
      rest = rest[end...].dropFirst()
    }
    return JSON.null.bytes
  }

  private static let dataField = Array("data: ".utf8)

  /// The field that sets the client's reconnection time; a part of the frame that follows.
  ///
  /// Some clients deliver an empty message for a frame without data.
  package static let retry = Array("retry: \(retryMilliseconds)\n".utf8)

  /// A comment, which keeps the connection open through proxies.
  ///
  /// It is a line and not a frame, and may precede any frame.
  package static let comment = Array(":\n".utf8)

  /// Returns an id without an event, which advances a filtered stream's id past the events that it skips.
  static func position(epoch: String) -> EventStreamResponse.Heartbeat.Position {
    .init(prefix: Array("id: \(epoch)-".utf8), suffix: Array("\n\n".utf8))
  }
}
