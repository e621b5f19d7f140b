/// The value of `--color`: whether text is written with colours.
package enum ColorChoice: String, Sendable, CaseIterable {
  /// With colours, also into a file or a pipe.
  case always
  /// Without colours.
  case never
  /// As the environment and the output decide.
  case auto

  /// Returns whether to write colours.
  ///
  /// The order is that of <https://no-color.org> and of programs that have the option: the option, `NO_COLOR` if it is
  /// not empty, `TERM=dumb`, then whether the output is a terminal.
  ///
  /// - Parameters:
  ///   - environment: the variables of the process.
  ///   - isTerminal: whether the output is a terminal.
  /// - Returns: whether to write colours.
  package func isEnabled(_ environment: [String: String], isTerminal: Bool) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .auto: environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb" && isTerminal
    }
  }
}
