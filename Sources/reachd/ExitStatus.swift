internal import ArgumentParser
internal import Probers

/// The exit codes: 0, 1 and 2 are results; the others are from sysexits(3), of which ArgumentParser uses 64 (EX_USAGE).
enum ExitStatus {
  /// The answer is yes: reachable, ready, valid.
  static let affirmative = ExitCode(0)
  /// The answer is no: not reachable, not ready.
  static let negative = ExitCode(1)
  static let undetermined = ExitCode(2)
  /// A service or an address is not available (EX_UNAVAILABLE).
  static let unavailable = ExitCode(69)
  /// An internal error (EX_SOFTWARE).
  static let software = ExitCode(70)
  /// A file cannot be created (EX_CANTCREAT).
  static let creation = ExitCode(73)
  /// Standard output cannot be written (EX_IOERR).
  static let output = ExitCode(74)
  /// The service requires a token with another scope (EX_NOPERM).
  static let permission = ExitCode(77)
  /// The configuration or a library is unusable (EX_CONFIG).
  static let configuration = ExitCode(78)

  /// The command after `wait … --` cannot be executed, as a shell reports it.
  static let commandNotExecutable = ExitCode(126)
  /// There is no such command, as a shell reports it.
  static let commandNotFound = ExitCode(127)

  static func code(reachable: Bool, known: Bool) -> ExitCode {
    guard known else { return undetermined }
    return reachable ? affirmative : negative
  }

  /// Ends a command that checks `https` targets with a libcurl that cannot do it.
  ///
  /// - Throws: the exit code 78, after the problem was reported.
  static func requireTLS(_ usesHTTPS: Bool) throws {
    guard usesHTTPS, let problem = CurlLibrary.tlsProblem else { return }
    Terminal.writeError("reachd: \(problem)")
    throw configuration
  }
}
