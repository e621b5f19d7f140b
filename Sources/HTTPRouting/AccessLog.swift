internal import Logging
internal import ReachabilityModel

/// The access log, with one line per response.
///
/// Of the request's target, a line contains the path and the parameter names, never their values or user information.
/// It is written when the response is handed over: a stream's line is written at its start, without its duration.
enum AccessLog {
  static func write(_ answer: HTTPAccess, to logger: Logger) {
    let request = answer.request
    var facts: Logger.Metadata = [
      "method": "\(request?.method ?? "-")", "target": "\(Redaction.redacted(answer.target))",
      "status": .stringConvertible(answer.response.status),
      "peer": "\(answer.peer)", "microseconds": .stringConvertible(answer.nanoseconds / 1000),
    ]
    if let bytes = answer.response.length { facts["bytes"] = .stringConvertible(request?.method == "HEAD" ? 0 : bytes) }
    if !answer.response.label.isEmpty { facts["route"] = "\(answer.response.label)" }
    if let id = answer.response.headers["X-Request-Id"] { facts["request"] = "\(id)" }
    if let agent = request?.headers["User-Agent"] { facts["agent"] = "\(agent)" }
    if let parent = request?.headers["traceparent"].flatMap(TraceParent.init) {
      facts["trace"] = "\(parent.trace)"
      facts["parent"] = "\(parent.parent)"
    }
    logger.info("request", metadata: facts)
  }
}

/// The caller's position in a distributed trace (W3C Trace Context, section 3.2).
struct TraceParent: Equatable {
  /// The trace's id: 32 hexadecimal digits.
  var trace: Substring
  /// The id of the caller's own span: 16 hexadecimal digits.
  var parent: Substring

  /// Returns nil for an invalid header, which the specification requires a receiver to ignore.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, Self.isHex(parts[0], 2), parts[0] != "ff", Self.isHex(parts[3], 2),
      // A later version may append fields after another dash; version 00 may not.
      parts.count == 4 || parts[0] != "00"
    else { return nil }
    guard Self.isHex(parts[1], 32), Self.isHex(parts[2], 16), parts[1].contains(where: { $0 != "0" }),
      parts[2].contains(where: { $0 != "0" })
    else { return nil }
    (trace, parent) = (parts[1], parts[2])
  }

  private static func isHex(_ text: Substring, _ count: Int) -> Bool {
    text.utf8.count == count && text.utf8.allSatisfy { $0.isASCIIDigit || (0x61...0x66).contains($0) }
  }
}
