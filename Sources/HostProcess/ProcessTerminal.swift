internal import CProcess
internal import Glibc

/// A terminal (termios(3)) on one of the standard descriptors.
public enum ProcessTerminal {
  /// Whether a descriptor is a terminal.
  public static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Returns the columns and lines of a terminal; zero where they are unknown.
  public static func size(of descriptor: Int32) -> (columns: Int, lines: Int) {
    var size = winsize()
    guard unsafe CProcess_window_size(descriptor, &size) == 0 else { return (0, 0) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Returns the bytes that are available on a descriptor (read(2)); nil at its end or after an error.
  public static func read(_ descriptor: Int32) -> [UInt8]? {
    /// More than a person types at a time; the rest is read later.
    let limit = 1024
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      count = unsafe max(0, Glibc.read(descriptor, buffer.baseAddress, limit))
      failure = count == 0 ? errno : 0
    }
    return bytes.isEmpty && failure != EINTR ? nil : bytes
  }

  /// The settings of a terminal.
  public struct Settings: Sendable {
    private let value: termios

    /// Reads the settings of a descriptor; nil if it is no terminal.
    public init?(of descriptor: Int32) {
      var value = termios()
      guard unsafe tcgetattr(descriptor, &value) == 0 else { return nil }
      self.value = value
    }

    private init(_ value: termios) { self.value = value }

    /// These settings for a program that reads single keys: no echo, no line editing.
    ///
    /// Control-C and Control-Z remain signals.
    public var forKeys: Settings {
      var keys = value
      keys.c_lflag &= ~tcflag_t(ICANON | ECHO)
      return Settings(keys)
    }

    /// Sets the terminal to these settings; false if the kernel refuses.
    ///
    /// Not after everything that was written to it (TCSADRAIN), which waits for a reader.
    @discardableResult
    public func apply(to descriptor: Int32) -> Bool {
      var value = value
      return unsafe tcsetattr(descriptor, TCSANOW, &value) == 0
    }
  }
}
