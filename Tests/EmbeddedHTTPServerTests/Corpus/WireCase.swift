import Testing

/// One entry of the corpus of strange requests: bytes, and what RFC 9110 and RFC 9112 make of them.
struct WireCase: Sendable, CustomTestStringConvertible {
  /// What becomes of a request.
  enum Outcome: Sendable, Equatable {
    /// One response with this status, in the embedder's words; then the connection ends.
    case refused(Int)
    /// The same, but libmicrohttpd sees it first and says so in its own words (ADR 14).
    case refusedByLibrary(Int)
    /// The connection ends without a word: there was nothing like a request.
    case hungUp
    /// It is served with 200, and so is what comes behind it.
    case served
    /// It is served with 200 and the connection ends: what comes behind it is not read.
    case servedLast
  }

  var name: String
  /// Where it is written, `9112 §5.1`.
  var clause: String
  var bytes: [UInt8]
  var outcome: Outcome
  var testDescription: String { "\(name) (\(clause))" }

  init(_ name: String, _ clause: String, _ text: String, _ outcome: Outcome) {
    self.init(name, clause, bytes: Array(text.utf8), outcome)
  }

  init(_ name: String, _ clause: String, bytes: [UInt8], _ outcome: Outcome) {
    self.name = name
    self.clause = clause
    self.bytes = bytes
    self.outcome = outcome
  }

  /// A request line and nothing unusual behind it.
  static func line(_ name: String, _ clause: String, _ line: String, _ outcome: Outcome) -> WireCase {
    WireCase(name, clause, "\(line)\r\nHost: a\r\n\r\n", outcome)
  }

  /// A target in an otherwise plain request.
  static func target(_ name: String, _ clause: String, _ target: String, _ outcome: Outcome) -> WireCase {
    line(name, clause, "GET \(target) HTTP/1.1", outcome)
  }

  /// Header lines, with their ends, in an otherwise plain request with a `Host`.
  static func fields(_ name: String, _ clause: String, _ fields: String, _ outcome: Outcome) -> WireCase {
    WireCase(name, clause, "GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n", outcome)
  }

  /// The framing fields and the body of a POST.
  static func body(_ name: String, _ clause: String, _ fields: String, _ body: String, _ outcome: Outcome) -> WireCase {
    WireCase(name, clause, "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\(body)", outcome)
  }

  /// A chunked body.
  static func chunks(_ name: String, _ clause: String, _ chunks: String, _ outcome: Outcome) -> WireCase {
    body(name, clause, "Transfer-Encoding: chunked\r\n", chunks, outcome)
  }

  static let corpus = (requestLines + targets + fieldLines + framing + chunking + sizes).map(\.present)
}
