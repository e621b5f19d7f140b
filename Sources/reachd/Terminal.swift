internal import ArgumentParser
internal import Glibc
internal import HostProcess
internal import ReachabilityModel
internal import SystemPackage

/// Writes lines to the standard streams, each immediately and whole, so that a reader of a pipe gets it without delay.
enum Terminal {
  /// Writes a line to standard output; ends the program if that fails.
  ///
  /// A closed pipe ends it by SIGPIPE, as is usual, or without a message if that signal is ignored.
  static func line(_ text: some StringProtocol) {
    guard let failure = write(text, to: .standardOutput) else { return }
    if failure != .brokenPipe { writeError("reachd: standard output: \(failure)") }
    exit(ExitStatus.output.rawValue)
  }

  /// Writes a JSON text of another program to standard output, with its control characters escaped.
  static func json(_ text: some StringProtocol) { line(text.jsonWithoutControls) }

  /// Writes a line to standard output for a caller that has to undo something if that fails.
  ///
  /// - Returns: whether the write succeeded.
  static func hasWritten(_ text: some StringProtocol) -> Bool { write(text, to: .standardOutput) == nil }

  /// Writes one line to standard error, with the control characters of quoted arguments, files and responses escaped.
  ///
  /// - Returns: whether the write succeeded; a failure cannot be reported anywhere.
  @discardableResult
  static func writeError(_ text: some StringProtocol) -> Bool { log(errorPriority + String(text).withoutControls) }

  /// Writes one line for a reader to standard error that is no error.
  static func writeNote(_ text: some StringProtocol) { _ = log(String(text).withoutControls) }

  /// What a line begins with that the journal receives as an error; empty for any other reader.
  private static let errorPriority = JournalStream.isStandardError(ProcessEnvironment.all) ? "<3>" : ""

  /// Writes log lines separated by line breaks to standard error; control characters are escaped already.
  ///
  /// - Returns: whether the write succeeded.
  static func log(_ lines: String) -> Bool { write(lines, to: .standardError) == nil }

  /// Writes text with control sequences to standard error, which is a terminal.
  static func writeControl(_ text: String) { _ = StandardStreams.write(Array(text.utf8), to: 2) }

  private static func write(_ text: some StringProtocol, to stream: FileDescriptor) -> Errno? {
    let code = StandardStreams.write(Array(text.utf8) + [0x0a], to: stream.rawValue)
    return code == 0 ? nil : Errno(rawValue: code)
  }
}
