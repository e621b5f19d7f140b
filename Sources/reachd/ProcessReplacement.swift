internal import ArgumentParser
internal import HostProcess

/// The command of `reachd wait TARGET … -- COMMAND`, which replaces this process.
struct ProcessReplacement {
  /// The index of `--` among the arguments of this process; the command follows.
  let terminator: Int
  private let name: String
  private let inherited: InheritedProcessState

  /// The command in some arguments; nil when there is none.
  ///
  /// The parser does not get it, because its arguments may look like options of reachd.
  ///
  /// - Throws: a message when there is nothing after `--`.
  init?(of arguments: [String], _ inherited: InheritedProcessState) throws {
    guard arguments.dropFirst().first == WaitCommand.configuration.commandName,
      let terminator = arguments.firstIndex(of: "--")
    else { return nil }
    guard terminator + 1 < arguments.endIndex else {
      throw ValidationError("a command is required after --, such as: reachd wait tcp://db:5432 -- /usr/bin/app")
    }
    self.terminator = terminator
    name = arguments[terminator + 1]
    self.inherited = inherited
  }

  /// Executes the command, or exits as a shell does that cannot execute it.
  ///
  /// It must be called on the first thread (``InheritedProcessState/execute(argumentsFrom:adding:)``).
  func perform(after waited: Duration) -> Never {
    let milliseconds = Int64(waited / .milliseconds(1))
    let failure = inherited.execute(argumentsFrom: terminator + 1, adding: ("REACHD_WAITED_MS", "\(milliseconds)"))
    Terminal.writeError("reachd: \(name): \(failure.message)")
    Reachd.exit(withError: failure.isNotFound ? ExitStatus.commandNotFound : ExitStatus.commandNotExecutable)
  }
}
