internal import ReachabilityModel

enum HeaderFieldSyntax {
  /// Returns the parts between separators, including empty ones; quoted separators are ignored (RFC 9110 §5.6.4).
  static func parts(of text: some StringProtocol, by separator: Character) -> [Substring] {
    var isQuoted = false
    var isEscaped = false
    return Substring(text).split(omittingEmptySubsequences: false) { character in
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      }
      return character == separator && !isQuoted
    }
  }

  /// Returns a weight (RFC 9110 §12.4.2); nil if it is invalid.
  ///
  /// Any number of digits is accepted, and none before the point: Java's own client sends `*/*; q=.2`.
  static func weight(_ text: some StringProtocol) -> Double? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard !parts.allSatisfy(\.isEmpty), parts.allSatisfy({ $0.isDecimal }) else {
      return nil
    }
    return Double("0\(parts[0]).\(parts.count > 1 ? parts[1] : "")0").map { min($0, 1) }
  }
}
