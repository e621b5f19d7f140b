package import ReachabilityModel

/// The signs beside colours, which not every reader or terminal has.
package struct Glyphs: Sendable, Equatable {
  /// Whether the terminal shows more than ASCII.
  package let isUnicode: Bool

  package init(isUnicode: Bool) { self.isUnicode = isUnicode }

  /// Creates the signs for the character encoding of the environment, in the order of locale(7).
  package init(_ environment: [String: String]) {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
    let encoding = locale.lowercased().filter { $0 != "-" }
    self.init(isUnicode: encoding.contains("utf8"))
  }

  package func state(_ state: TargetState) -> String {
    switch state {
    case .up: isUnicode ? "✔" : "+"
    case .down: isUnicode ? "✖" : "x"
    case .unreachable: isUnicode ? "⊘" : "!"
    case .unknown: "?"
    case .paused: isUnicode ? "‖" : "="
    }
  }

  package func machine(_ status: String) -> String {
    switch status {
    case "reachable": state(.up)
    case "notReachable": state(.unreachable)
    default: state(.unknown)
    }
  }

  /// Unconfirmed: the last results contradict the state.
  package var pending: String { isUnicode ? "◔" : "~" }
  /// Changes its state often.
  package var flapping: String { isUnicode ? "↯" : "%" }
  /// A connection that receives data.
  package var live: String { isUnicode ? "●" : "*" }
  package var disconnected: String { isUnicode ? "○" : "o" }
  /// The selected line.
  package var selection: String { isUnicode ? "▶" : ">" }
  /// From one state to another.
  package var arrow: String { isUnicode ? "→" : "->" }
  /// The end of a text that is cut off.
  package var ellipsis: String { isUnicode ? "…" : "~" }
  /// Between parts of a line.
  package var separator: String { isUnicode ? "·" : "|" }
  package var bar: String { isUnicode ? "█" : "#" }
}
