internal import ReachabilityModel

/// Colours the states in lines of text.
package enum TerminalStateWords {
  /// Returns a line in which the first of its words that is a state has the colour of that state, and control characters are
  /// escaped.
  ///
  /// - Parameters:
  ///   - line: a line of words that are separated by single spaces.
  ///   - limit: the number of words that may be the state; the words after them belong to other programs.
  ///   - isColored: whether to change anything.
  /// - Returns: the line.
  package static func colored(_ line: String, within limit: Int, isColored: Bool) -> String {
    let line = line.withoutControls
    guard isColored else { return line }
    var words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    for index in words.indices.prefix(limit) {
      guard let style = style(of: words[index]) else { continue }
      words[index] = style.applied(to: words[index], isColored: true)
      break
    }
    return words.joined(separator: " ")
  }

  /// Returns the style of a word; nil if it is not a state of a target, a machine or a gate.
  package static func style(of word: String) -> TerminalStyle? {
    if let state = TargetState(rawValue: word) { return .state(state) }
    switch word {
    case "reachable", "notReachable": return .machine(word)
    case "open": return .state(.up)
    case "closed": return .state(.down)
    default: return nil
    }
  }
}
