/// Collects an answer until it matches, up to a limit.
///
/// The cost of a match grows with the length of the answer. An answer that arrives in small parts is therefore matched
/// each time that it has grown by an eighth, and otherwise when ``match()`` is called.
struct TCPResponseMatcher {
  enum Outcome { case matched, more, full }

  private let pattern: ProberPattern
  private let limit: Int
  private var bytes: [UInt8] = []
  private var tried = 0

  init(_ pattern: ProberPattern, limit: Int) {
    self.pattern = pattern
    self.limit = limit
  }

  var isEmpty: Bool { bytes.isEmpty }

  /// Whether bytes have been received since the last match.
  var hasUnmatchedBytes: Bool { tried < bytes.count }

  mutating func take(_ more: [UInt8]) throws(ProberPatternError) -> Outcome {
    bytes.append(contentsOf: more.prefix(limit - bytes.count))
    if (bytes.count - tried) * 8 >= tried || bytes.count == limit, try match() { return .matched }
    return bytes.count == limit ? .full : .more
  }

  /// Matches now, unless no byte has been received since the last match.
  mutating func match() throws(ProberPatternError) -> Bool {
    guard hasUnmatchedBytes else { return false }
    tried = bytes.count
    return try pattern.matches(bytes)
  }
}
