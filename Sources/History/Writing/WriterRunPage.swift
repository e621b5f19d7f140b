internal import Database

/// What a killed process leaves behind in memory: which run it was, whether it had published what it had not
/// committed, and when it was last alive.
final class WriterRunPage: Sendable {
  private enum Word: Int {
    /// Zero in a new page.
    case format, epoch, run, isLossy, alive, aliveUptime
  }
  private static let format: UInt64 = 1

  private let page: DatabaseSharedPage

  /// Maps the page of a store.
  ///
  /// - Throws: the failed system call.
  init(_ path: String) throws(DatabaseFileError) { page = try DatabaseSharedPage(path) }

  private subscript(word: Word) -> UInt64 {
    get { page[word.rawValue] }
    set { page[word.rawValue] = newValue }
  }

  /// Whether events were published that are not committed.
  var isLossy: Bool {
    get { self[.isLossy] != 0 }
    set { self[.isLossy] = newValue ? 1 : 0 }
  }

  /// The run that used the page last; nil for a new page.
  var run: Int64? { self[.format] == Self.format ? Int64(bitPattern: self[.run]) : nil }

  /// Whether the page is that of a run in an epoch.
  func belongs(to run: Int64, _ epoch: String) -> Bool {
    self.run == run && self[.epoch] == UInt64(epoch, radix: 16)
  }

  /// The last sign of life of the run, in microseconds since 1970 and of CLOCK_BOOTTIME.
  var alive: (time: Int64, uptime: Int64) {
    (Int64(bitPattern: self[.alive]), Int64(bitPattern: self[.aliveUptime]))
  }

  /// Records a sign of life.
  func setAlive(_ time: StoreTime) {
    self[.alive] = UInt64(bitPattern: time.wall)
    self[.aliveUptime] = UInt64(bitPattern: time.uptime)
  }

  /// Begins a run, after its row was committed; lossy if events were published before that.
  func begin(_ run: Int64, _ epoch: String, _ time: StoreTime, isLossy isLossyAtStart: Bool) {
    isLossy = true
    self[.run] = UInt64(bitPattern: run)
    self[.epoch] = UInt64(epoch, radix: 16) ?? 0
    setAlive(time)
    self[.format] = Self.format
    isLossy = isLossyAtStart
  }
}
