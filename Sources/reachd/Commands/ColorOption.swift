internal import ArgumentParser
internal import HostProcess
internal import TerminalUI

/// The option `--color` of the commands that print states.
struct ColorOption: ParsableArguments {
  @Option(
    name: .customLong("color"),
    help: "Colours: always, never or auto. Default auto: on a terminal, unless NO_COLOR is set or TERM is dumb.",
    completion: .list(ColorChoice.allCases.map(\.rawValue)))
  var choice: ColorChoice = .auto

  /// Whether standard output gets colours.
  var isEnabled: Bool {
    choice.isEnabled(ProcessEnvironment.all, isTerminal: ProcessTerminal.isTerminal(1))
  }

  /// Returns a line in which the first state among its first words has its colour.
  func colored(_ line: String, within limit: Int = 1) -> String {
    TerminalStateWords.colored(line, within: limit, isColored: isEnabled)
  }
}

extension ColorChoice: ExpressibleByArgument {}
