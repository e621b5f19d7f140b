package import ReachabilityModel

/// The style of a part of a line: colours of the terminal's palette, which its user has chosen, and never a background.
package enum TerminalStyle: Sendable, Equatable {
  /// As the terminal writes text.
  case plain
  case bold
  case state(TargetState)
  /// Of something that needs attention and is no state: unconfirmed, disconnected.
  case warning

  /// The parameters of SGR (ECMA-48, 8.3.117); nil for the default rendition.
  ///
  /// Not the bright colours 90 to 97: some palettes use them for shades of the background.
  fileprivate var parameters: String? {
    switch self {
    case .plain, .state(.unknown), .state(.paused): nil
    case .bold: "1"
    case .state(.up): "32"
    case .state(.down): "31"
    case .state(.unreachable): "35"
    case .warning: "33"
    }
  }

  /// Returns the style of a status of this machine; `reachable`, `notReachable` or `unknown`.
  package static func machine(_ status: String) -> TerminalStyle {
    switch status {
    case "reachable": .state(.up)
    case "notReachable": .state(.unreachable)
    default: .state(.unknown)
    }
  }

  /// Returns a text in this style, or unchanged without colours.
  package func applied(to text: String, isColored: Bool) -> String {
    guard isColored, let parameters, !text.isEmpty else { return text }
    return "\u{1b}[\(parameters)m\(text)\u{1b}[0m"
  }
}
