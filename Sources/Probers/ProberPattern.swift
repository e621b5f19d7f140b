internal import CPCRE2
internal import EventLoop
internal import ReachabilityModel

/// Why a text is not a regular expression.
struct ProberPatternError: Error, Equatable {
  let message: String

  var finding: ProberResult { ProberResult(.unknown, .cancelled, detail: message) }
}

/// A PCRE2 regular expression over bytes, with a limit on the cost of one match (pcre2api(3)).
///
/// PCRE2's limits of steps apply to each place of the text where a match may begin, and a server can send a text with many
/// places. A callout before each of them compares the time.
///
/// Bytes that are not UTF-8 match nothing; the text around them matches as usual.
@safe final class ProberPattern {
  private let code: OpaquePointer
  private let matchData: OpaquePointer
  private let matchContext: OpaquePointer

  init(_ text: String) throws(ProberPatternError) {
    guard text.utf8.count <= Limits.patternBytes else {
      throw ProberPatternError(
        message: "the expression has \(text.utf8.count) bytes; at most \(Limits.patternBytes) are possible")
    }
    var number: Int32 = 0
    var offset = 0
    let bytes = Array(text.utf8)
    guard let original = unsafe cpcre2_compile(bytes, bytes.count, &number, &offset) else {
      throw ProberPatternError(
        message: "\(text.debugDescription) is not a regular expression: \(Self.message(number)) at byte \(offset)")
    }
    // Compiled only for its errors, whose place is the user's.
    unsafe pcre2_code_free_8(original)
    let timed = Self.withCallout(bytes)
    guard let compiled = unsafe cpcre2_compile(timed, timed.count, &number, &offset) else {
      throw ProberPatternError(message: "\(text.debugDescription) cannot be used: \(Self.message(number))")
    }
    guard let matchContext = unsafe pcre2_match_context_create_8(nil) else {
      unsafe pcre2_code_free_8(compiled)
      throw ProberPatternError(message: "no memory for a regular expression")
    }
    // One pair is enough to detect a match.
    guard let matchData = unsafe pcre2_match_data_create_8(1, nil) else {
      unsafe pcre2_match_context_free_8(matchContext)
      unsafe pcre2_code_free_8(compiled)
      throw ProberPatternError(message: "no memory for a regular expression")
    }
    unsafe pcre2_set_match_limit_8(matchContext, Limits.matchSteps)
    unsafe pcre2_set_depth_limit_8(matchContext, Limits.matchDepth)
    unsafe pcre2_set_heap_limit_8(matchContext, Limits.matchKibibytes)
    unsafe code = compiled
    unsafe self.matchData = matchData
    unsafe self.matchContext = matchContext
  }

  deinit {
    unsafe pcre2_match_data_free_8(matchData)
    unsafe pcre2_match_context_free_8(matchContext)
    unsafe pcre2_code_free_8(code)
  }

  /// An expression with a callout as its first item: PCRE2 calls it at each place where a match may begin.
  ///
  /// Items such as `(*UCP)` remain first (pcre2pattern(3), "Special start-of-pattern items").
  private static func withCallout(_ pattern: [UInt8]) -> [UInt8] {
    var start = 0
    while pattern[start...].starts(with: "(*".utf8),
      pattern.dropFirst(start + 2).first.map({ 0x41...0x5a ~= $0 }) == true,
      let end = pattern[start...].firstIndex(of: UInt8(ascii: ")"))
    {
      start = end + 1
    }
    return Array(pattern[..<start]) + Array("(?C1)".utf8) + pattern[start...]
  }

  /// Whether the expression matches anywhere in `bytes`.
  ///
  /// - Throws: ``ProberPatternError`` if the match exceeds its limits: the result is unknown.
  func matches(_ bytes: some Sequence<UInt8>) throws(ProberPatternError) -> Bool {
    try matches(bytes, until: .now.advanced(by: Limits.matchTime))
  }

  /// Whether the expression matches in any of some texts, which share one limit of time.
  func matches(anyOf texts: some Sequence<String>) throws(ProberPatternError) -> Bool {
    let deadline = MonotonicInstant.now.advanced(by: Limits.matchTime)
    for text in texts where try matches(text.utf8, until: deadline) { return true }
    return false
  }

  private func matches(
    _ bytes: some Sequence<UInt8>, until deadline: MonotonicInstant
  ) throws(ProberPatternError) -> Bool {
    let subject = Array(bytes)
    var end = deadline.nanoseconds
    let result = unsafe withUnsafeMutablePointer(to: &end) { end in
      unsafe pcre2_set_callout_8(matchContext, compareTime, end)
      return unsafe pcre2_match_8(code, subject, subject.count, 0, 0, matchData, matchContext)
    }
    // 0: a match with more groups than the match data can hold.
    guard result < 0, result != PCRE2_ERROR_NOMATCH else { return result >= 0 }
    let cause = result == PCRE2_ERROR_CALLOUT ? "it takes too long" : Self.message(result)
    throw ProberPatternError(message: "whether the expression matches cannot be found out: \(cause)")
  }

  private static func message(_ number: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let length = unsafe pcre2_get_error_message_8(number, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, Int(length))), as: UTF8.self)
  }
}

/// The recently used expressions, compiled.
///
/// Confined to the prober's thread.
final class ProberPatternCache {
  private var kept: [String: ProberPattern] = [:]

  func pattern(_ text: String) throws(ProberPatternError) -> ProberPattern {
    if let known = kept[text] { return known }
    let new = try ProberPattern(text)
    // The cache is full only if a client sends many different expressions: then no entry is worth keeping.
    if kept.count >= Limits.patternsKept { kept.removeAll() }
    kept[text] = new
    return new
  }
}

/// Called by PCRE2 where a match may begin; an error ends the match.
private func compareTime(_ block: UnsafeMutablePointer<pcre2_callout_block_8>?, _ end: UnsafeMutableRawPointer?)
  -> Int32
{
  guard let end = unsafe end?.assumingMemoryBound(to: Int64.self).pointee else { return 0 }
  return MonotonicInstant.now.nanoseconds > end ? PCRE2_ERROR_CALLOUT : 0
}
