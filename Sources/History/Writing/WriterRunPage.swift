internal import Database
internal import Locks

/// What a killed process leaves behind in memory: which run it was, what it had published, whether it had published what
/// it had not committed, and when it was last alive.
final class WriterRunPage: Sendable {
  private enum Word: Int {
    /// Zero in a new page.
    case format, epoch, run, isLossy, alive, aliveUptime
    /// Only in the second format.
    case token, lastVisible
  }
  /// The format of 0.1.0, without a token.
  private static let first: UInt64 = 1
  private static let format: UInt64 = 2

  private let page: DatabaseSharedPage
  /// The name of the file depends on the lock file, which may have to be created again.
  private let path: Locked<String>

  /// Maps the page of a store.
  ///
  /// - Throws: the failed system call.
  init(_ path: String) throws(DatabaseFileError) {
    page = try DatabaseSharedPage(path)
    self.path = Locked(path)
  }

  /// Gives the file the name that the next start looks for.
  ///
  /// - Throws: the failed system call.
  func move(to new: String) throws(DatabaseFileError) {
    let old = path.withLock(\.self)
    guard old != new else { return }
    try DatabaseSharedPage.move(old, to: new)
    path.withLock { $0 = new }
  }

  private subscript(word: Word) -> UInt64 {
    get { page[word.rawValue] }
    set { page[word.rawValue] = newValue }
  }

  /// Whether events were published that are not committed.
  var isLossy: Bool {
    get { self[.isLossy] != 0 }
    set { self[.isLossy] = newValue ? 1 : 0 }
  }

  /// The number of the last event that was published after its commit.
  var lastVisible: UInt64 {
    get { self[.lastVisible] }
    set { self[.lastVisible] = newValue }
  }

  /// The run that used the page last; nil for a new page.
  var run: Int64? {
    guard [Self.first, Self.format].contains(self[.format]) else { return nil }
    return (1...Limits.highestRun).contains(Int64(bitPattern: self[.run])) ? Int64(bitPattern: self[.run]) : nil
  }

  /// The token of that run; nil for a run of 0.1.0, and for a run that was killed while it began.
  var token: UInt64? { self[.format] == Self.format && self[.token] != 0 ? self[.token] : nil }

  /// Whether a run of 0.1.0 used the page last.
  var isOfFirstFormat: Bool { self[.format] == Self.first }

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

  /// Begins a run, after its row was committed.
  ///
  /// - Parameters:
  ///   - mark: the run.
  ///   - epoch: its epoch.
  ///   - time: the present time.
  ///   - last: the number of the last event.
  ///   - isLossyAtStart: whether events were published before that are not committed.
  func begin(_ mark: StoreRunMark, _ epoch: String, _ time: StoreTime, last: UInt64, isLossy isLossyAtStart: Bool) {
    // Without a token until it is complete: a kill in between is one of a run that has published nothing.
    self[.token] = 0
    self[.format] = Self.format
    isLossy = isLossyAtStart
    self[.run] = UInt64(bitPattern: mark.run)
    self[.epoch] = UInt64(epoch, radix: 16) ?? 0
    lastVisible = last
    setAlive(time)
    self[.token] = mark.token
  }
}
