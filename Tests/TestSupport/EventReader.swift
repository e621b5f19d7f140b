/// One frame of an event stream (WHATWG HTML, "Server-sent events").
public struct StreamEvent: Sendable, CustomStringConvertible {
  /// The frame's id; nil when it has none.
  public let id: String?
  /// The event's name.
  public let name: String
  /// Its data.
  public let data: JSONValue

  /// The part of the id after the epoch: the event's number.
  public var number: Int? { id?.split(separator: "-").last.flatMap { Int($0) } }

  /// The frame in one line, for a failing test.
  public var description: String { "\(name) \(id ?? "without id"): \(data)" }
}

/// Reads an open event stream, frame by frame.
public final class EventReader {
  /// Status and headers of the stream.
  public let head: HTTPConnection.Head
  /// The last id that the stream gave, with an event or without.
  public private(set) var lastID: String?
  /// The last advice on when to come back, in milliseconds.
  public private(set) var retry: Int?
  private let connection: HTTPConnection
  private var buffer: [UInt8] = []

  /// Opens a stream.
  ///
  /// - Throws: a ``TestError`` when the answer is no event stream.
  public init(_ connection: HTTPConnection, _ target: String, _ fields: [String: String] = [:]) throws(TestError) {
    self.connection = connection
    try connection.get(target, ["Accept": "text/event-stream"].merging(fields) { $1 })
    head = try connection.head()
    guard head.status == 200, head.fields["content-type"] == "text/event-stream" else {
      throw TestError("\(target) is no stream: \(head)")
    }
  }

  /// The next event; comments and frames without data are passed over.
  ///
  /// - Returns: nil when the stream has ended.
  /// - Throws: a ``TestError`` when none comes until the deadline, or when the stream breaks off inside a frame.
  public func next(within deadline: Duration = .seconds(20)) throws(TestError) -> StreamEvent? {
    let limit = ContinuousClock.now + deadline
    while true {
      while let range = buffer.firstRange(of: Array("\n\n".utf8)) {
        let frame = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
        buffer.removeFirst(range.upperBound)
        if let event = try event(frame) { return event }
      }
      // Heartbeats are bytes too: they must not put the deadline off.
      guard ContinuousClock.now < limit else { throw TestError("no event came until the deadline") }
      guard let piece = try connection.piece(within: deadline) else {
        guard buffer.isEmpty else { throw TestError("the stream broke off: \(buffer)") }
        return nil
      }
      buffer += piece
    }
  }

  private func event(_ frame: String) throws(TestError) -> StreamEvent? {
    var id: String?
    var name = "message"
    var data: [Substring] = []
    for line in frame.split(separator: "\n") where !line.hasPrefix(":") {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, parts[1].first == " " else { throw TestError("an odd line in a stream: \(line)") }
      let value = parts[1].dropFirst()
      switch parts[0] {
      case "id": id = String(value)
      case "event": name = String(value)
      case "data": data.append(value)
      case "retry": retry = Int(value)
      default: throw TestError("an unknown field in a stream: \(line)")
      }
    }
    lastID = id ?? lastID
    guard !data.isEmpty else { return nil }
    return StreamEvent(id: id, name: name, data: try JSONValue(data.joined(separator: "\n")))
  }
}
