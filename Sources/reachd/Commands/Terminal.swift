internal import ArgumentParser
internal import Glibc
internal import HostProcess
internal import ReachabilityModel
internal import SystemPackage

/// Lines to the standard streams, written at once and whole: a reader at the other end of a pipe waits for nothing.
enum Terminal {
  /// Writes a line to standard output; when that takes nothing more, the program ends.
  ///
  /// A reader that went away ends it by SIGPIPE, as is usual, or quietly where that is ignored.
  static func line(_ text: some StringProtocol) {
    guard let failure = write(text, to: .standardOutput) else { return }
    if failure != .brokenPipe { writeError("reachd: standard output: \(failure)") }
    exit(ExitStatus.output.rawValue)
  }

  /// Writes a line to standard error, one whatever the arguments, files and answers have in them that it quotes.
  ///
  /// - Returns: whether it could be written; there is nobody left to tell when not.
  @discardableResult
  static func writeError(_ text: some StringProtocol) -> Bool { log(String(text).withoutControls) }

  /// Writes lines of the log, with breaks between them, to standard error; what they quote is escaped already.
  ///
  /// - Returns: whether they could be written.
  static func log(_ lines: String) -> Bool { write(lines, to: .standardError) == nil }

  /// Characters of a foreign answer that are shown: a problem document has a few hundred.
  private static let displayedCharacterLimit = 2_000

  /// What somebody else answered, for a line of ours.
  static func displayText(_ answer: String) -> String {
    String(answer.prefix(displayedCharacterLimit)).withoutControls + (answer.count > displayedCharacterLimit ? "…" : "")
  }

  private static func write(_ text: some StringProtocol, to stream: FileDescriptor) -> Errno? {
    let code = StandardStreams.write(Array(text.utf8) + [0x0a], to: stream.rawValue)
    return code == 0 ? nil : Errno(rawValue: code)
  }
}
