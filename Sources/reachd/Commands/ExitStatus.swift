internal import ArgumentParser

/// How the program ends: 0, 1, 2 are answers; the rest are sysexits(3), of which ArgumentParser itself gives 64 (EX_USAGE).
enum ExitStatus {
  /// Reachable, ready, valid.
  static let affirmative = ExitCode(0)
  /// Not reachable, not ready.
  static let negative = ExitCode(1)
  /// It could not be found out.
  static let undetermined = ExitCode(2)
  /// A service or address is not available (EX_UNAVAILABLE).
  static let unavailable = ExitCode(69)
  /// Something failed that should not (EX_SOFTWARE).
  static let software = ExitCode(70)
  /// A file cannot be created (EX_CANTCREAT).
  static let creation = ExitCode(73)
  /// Standard output takes nothing more (EX_IOERR).
  static let output = ExitCode(74)
  /// The configuration is wrong (EX_CONFIG).
  static let configuration = ExitCode(78)

  /// The code for a status.
  static func code(reachable: Bool, known: Bool) -> ExitCode {
    guard known else { return undetermined }
    return reachable ? affirmative : negative
  }
}
