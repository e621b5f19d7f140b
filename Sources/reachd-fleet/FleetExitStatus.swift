internal import ArgumentParser

/// The exit codes, from sysexits(3).
enum FleetExitStatus {
  /// An address, or the id of the agent, is in use (EX_UNAVAILABLE).
  static let unavailable = ExitCode(69)
  /// The configuration is invalid (EX_CONFIG).
  static let configuration = ExitCode(78)
}
