internal import SystemPackage

/// Lines to the standard streams, written at once and whole: a reader at the other end of a pipe waits for nothing.
enum Terminal {
  /// Writes a line to standard output; a reader that went away ends the program by SIGPIPE, as is usual.
  static func line(_ text: some StringProtocol) {
    write(text, to: .standardOutput)
  }

  /// Writes a line to standard error.
  static func complain(_ text: some StringProtocol) {
    write(text, to: .standardError)
  }

  private static func write(_ text: some StringProtocol, to stream: FileDescriptor) {
    // There is nobody left to tell when the stream itself is broken.
    _ = try? stream.writeAll(Array(text.utf8) + [0x0a])
  }
}
