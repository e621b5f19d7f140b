internal import CPCRE2
internal import ReachabilityModel

/// Why a text is not a regular expression.
struct ProberPatternError: Error, Equatable {
  let message: String

  var finding: ProberResult { ProberResult(.unknown, .cancelled, detail: message) }
}

/// A PCRE2 regular expression over bytes, with a limit on the cost of one match (pcre2api(3)).
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
    guard let compiled = unsafe cpcre2_compile(bytes, bytes.count, &number, &offset) else {
      throw ProberPatternError(
        message: "\(text.debugDescription) is not a regular expression: \(Self.message(number)) at byte \(offset)")
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

  /// Whether the expression matches anywhere in `bytes`.
  ///
  /// - Throws: ``PatternError`` if the match exceeds its limits: the result is unknown.
  func matches(_ bytes: some Sequence<UInt8>) throws(ProberPatternError) -> Bool {
    let subject = Array(bytes)
    let code = unsafe pcre2_match_8(code, subject, subject.count, 0, 0, matchData, matchContext)
    // 0: a match with more groups than the match data can hold.
    guard code < 0, code != PCRE2_ERROR_NOMATCH else { return code >= 0 }
    throw ProberPatternError(message: "whether the expression matches cannot be found out: \(Self.message(code))")
  }

  /// Whether the expression matches in any of some texts.
  func matches(anyOf texts: some Sequence<String>) throws(ProberPatternError) -> Bool {
    for text in texts where try matches(text.utf8) { return true }
    return false
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
