internal import ArgumentParser
internal import Glibc
internal import HostProcess
internal import ReachabilityModel

/// Writes lines to the standard streams.
enum FleetTerminal {
  /// Writes a line to standard output.
  static func line(_ text: String) { _ = StandardStreams.write(Array(text.utf8) + [0x0a], to: 1) }

  /// Writes a line to standard error, with control characters escaped.
  static func writeError(_ text: String) { _ = log(errorPriority + text.withoutControls) }

  /// What a line begins with that the journal receives as an error; empty for any other reader.
  private static let errorPriority = JournalStream.isStandardError(ProcessEnvironment.all) ? "<3>" : ""

  /// Writes log lines, whose control characters are escaped already.
  ///
  /// - Returns: whether the write succeeded.
  static func log(_ lines: String) -> Bool { StandardStreams.write(Array(lines.utf8) + [0x0a], to: 2) == 0 }

  /// Ends the process: of two agents of one id, neither's cells would be right.
  static func exitAsDuplicate(_ id: String) -> Never {
    writeError("reachd-fleet: fleet.id: another agent with the id \(id) is running")
    exit(FleetExitStatus.unavailable.rawValue)
  }
}
