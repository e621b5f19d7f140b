internal import Subprocess
internal import SystemPackage

/// Runs a shell command for a change, with the change in its environment.
struct ChangeHook: Sendable {
  let command: String

  init(_ command: String) { self.command = command }

  /// Runs the command with these variables and waits for its end; a failure is only reported.
  ///
  /// While it runs, further updates wait in the monitor's bounded mailbox: a slow command receives the latest state,
  /// not every step.
  func run(_ facts: [(name: String, value: String)]) async {
    let environment = Environment.inherit.updating(
      Dictionary(uniqueKeysWithValues: facts.map { (Environment.Key(stringLiteral: $0.name), $0.value) }))
    do {
      let result = try await Subprocess.run(
        .path("/bin/sh"), arguments: ["-c", command], environment: environment,
        output: .currentStandardOutput, error: .currentStandardError)
      if !result.terminationStatus.isSuccess {
        Terminal.writeError("reachd: --exec ended with \(result.terminationStatus)")
      }
    } catch {
      Terminal.writeError("reachd: --exec could not run: \(error)")
    }
  }
}
