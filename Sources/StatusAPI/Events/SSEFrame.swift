internal import EventStreams
internal import EmbeddedHTTPServer

/// The frames of an event stream, as WHATWG HTML describes them under "Server-sent events".
///
/// JSON holds no line breaks, so that one `data` line is enough.
enum SSEFrame {
  /// How long a client waits before it comes back, in milliseconds.
  static let retryMilliseconds = 3000

  /// An event with its data, and its id unless it is none of the history's.
  static func event(_ name: String, id: EventID? = nil, _ data: JSON) -> [UInt8] {
    event(name, id: id, data.bytes)
  }

  /// The same, of data that is encoded already.
  static func event(_ name: String, id: EventID? = nil, _ data: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    if let id { bytes += "id: \(id)\n".utf8 }
    bytes += "event: \(name)\ndata: ".utf8
    bytes += data
    bytes += "\n\n".utf8
    return bytes
  }

  /// The data of a frame that ``event(_:id:_:)`` made.
  static func data(of frame: [UInt8]) -> [UInt8] {
    for line in frame.split(separator: UInt8(ascii: "\n")) where line.starts(with: "data: ".utf8) {
      return Array(line.dropFirst("data: ".utf8.count))
    }
    return JSON.null.bytes
  }

  /// The advice on when to come back.
  static let retry = Array("retry: \(retryMilliseconds)\n\n".utf8)

  /// A comment: keeps the connection open through proxies, and dispatches nothing.
  static let heartbeat = Array(":\n\n".utf8)

  /// An id without an event: a filtered stream's id keeps up with the events that were passed over.
  static func position(epoch: String) -> HTTPStream.Heartbeat.Position {
    .init(prefix: Array("id: \(epoch)-".utf8), suffix: Array("\n\n".utf8))
  }
}
