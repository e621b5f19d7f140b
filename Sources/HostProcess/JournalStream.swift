internal import Glibc

/// systemd's journal as the reader of standard error (systemd.exec(5), `JOURNAL_STREAM`).
public enum JournalStream {
  /// Whether the journal reads standard error, so that a line may begin with its priority: `<3>` for an error (sd-daemon(3)).
  ///
  /// The variable contains the device and the inode of the stream. A program whose standard error was redirected has
  /// inherited the variable, and must not use it.
  public static func isStandardError(_ environment: [String: String]) -> Bool {
    guard let stream = environment["JOURNAL_STREAM"] else { return false }
    var status = stat()
    guard unsafe fstat(2, &status) == 0 else { return false }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }
}
