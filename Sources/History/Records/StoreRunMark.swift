/// What the lock file says about the run that used the store last.
///
/// A database that does not have this run was taken back to an earlier state, or belongs to another directory: its numbers
/// were used for other events. The database can be replaced without a trace in its file, as by `cp` over it.
struct StoreRunMark: Hashable {
  private static let format = "reachd-run-1"

  var run: Int64
  var token: UInt64
  /// The number of the last event when the run was ended; nil until then.
  var end: UInt64?

  init(run: Int64, token: UInt64, end: UInt64? = nil) {
    self.run = run
    self.token = token
    self.end = end
  }

  /// Reads the content of a lock file; nil for any other content.
  init?(_ bytes: [UInt8]) {
    guard let end = bytes.firstIndex(of: 0x0a) else { return nil }
    let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
    guard words.count == 4, words[0] == Self.format, let run = Int64(words[1]), let token = UInt64(words[2], radix: 16),
      (1...Limits.highestRun).contains(run), token != 0
    else { return nil }
    self.init(run: run, token: token, end: UInt64(words[3]))
    guard self.end != nil || words[3] == "-" else { return nil }
  }

  /// A line, `reachd-run-1 7 9c41f0a2b3d4e5f6 -`, and spaces, so that every mark has the same length.
  var bytes: [UInt8] {
    let text = "\(Self.format) \(run) \(String(token, radix: 16)) \(end.map(String.init) ?? "-")"
    return Array(text.utf8) + [UInt8](repeating: 0x20, count: max(0, Self.length - 1 - text.utf8.count)) + [0x0a]
  }

  /// More than the longest line.
  private static let length = 96

  /// A token that no other run has; never 0, which means none.
  static func randomToken() -> UInt64 { .random(in: 1 ... .max) }
}
