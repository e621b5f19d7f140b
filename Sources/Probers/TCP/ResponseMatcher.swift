/// An answer that is collected until it matches, up to a limit.
///
/// Matching costs as much as the answer is long, so an answer that comes in drops is matched each time that it has grown
/// by an eighth, and otherwise when ``match()`` is called.
struct ResponseMatcher {
  enum Outcome { case matched, more, full }

  private let pattern: Pattern
  private let limit: Int
  private var bytes: [UInt8] = []
  private var tried = 0

  init(_ pattern: Pattern, limit: Int) {
    self.pattern = pattern
    self.limit = limit
  }

  var isEmpty: Bool { bytes.isEmpty }

  /// Whether there is something that was not matched yet.
  var hasUnmatchedBytes: Bool { tried < bytes.count }

  mutating func take(_ more: [UInt8]) throws(PatternError) -> Outcome {
    bytes.append(contentsOf: more.prefix(limit - bytes.count))
    if (bytes.count - tried) * 8 >= tried || bytes.count == limit, try match() { return .matched }
    return bytes.count == limit ? .full : .more
  }

  /// Matches now, unless nothing has come since the last time.
  mutating func match() throws(PatternError) -> Bool {
    guard hasUnmatchedBytes else { return false }
    tried = bytes.count
    return try pattern.matches(bytes)
  }
}
