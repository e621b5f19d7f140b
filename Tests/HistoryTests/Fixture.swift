import Database
import TestSupport
import Testing

@testable import History

/// A database file with the tables of the store, filled by tests.
final class HistoryFixture {
  let connection: DatabaseConnection
  private let directory: TemporaryDirectory
  private(set) var run: Int64 = 0
  private var boot = ""
  private var shift: Int64 = 0

  /// Seconds as microseconds.
  static func s(_ seconds: Int64) -> Int64 { seconds * 1_000_000 }

  init() throws {
    directory = try TemporaryDirectory()
    connection = try DatabaseConnection("\(directory.path)/reachd.db", .readWrite)
    try StoreSchema.configure(connection, isNew: true, maximumPages: 1 << 20)
    try StoreSchema.migrate(connection, from: 0)
  }

  /// Begins a run; all times are seconds.
  func begin(boot: String, at uptime: Int64, shift: Int64) throws {
    run += 1
    (self.boot, self.shift) = (boot, shift)
    let times = [uptime + shift, uptime, uptime + shift, uptime].map { DatabaseValue.integer(Self.s($0)) }
    try connection.run(
      "INSERT INTO run(id, epoch, boot, started, started_uptime, alive, alive_uptime) VALUES(?, '6f1c2a90', ?, ?, ?, ?, ?)",
      [.integer(run), .text(boot)] + times)
  }

  /// Sets the wall clock of the present boot.
  func setClock(shift: Int64) { self.shift = shift }

  /// Moves the run's last sign of life.
  func live(until uptime: Int64) throws {
    try connection.run(
      "UPDATE run SET alive = ?, alive_uptime = ? WHERE id = ?", .integer(Self.s(uptime + shift)),
      .integer(Self.s(uptime)), .integer(run))
  }

  /// Adds a transition.
  func change(_ target: String, to state: StateCode, at uptime: Int64, from old: StateCode = .targetUnknown) throws {
    try insert(target, state, at: uptime, from: old)
    try live(until: uptime)
  }

  /// Adds a transition, and leaves the run's last sign of life as it is.
  func insert(
    _ target: String, _ state: StateCode, at uptime: Int64, from old: StateCode = .targetUnknown
  ) throws(DatabaseError) {
    let subject = try HistorySubject.reference(to: target, in: connection)
    try connection.run(
      """
      INSERT INTO transition(epoch, seq, at, boottime, run, subject, type, old, new, reason, cause, flags)
      VALUES('6f1c2a90', (SELECT ifnull(max(id), 0) + 1 FROM transition), ?, ?, ?, ?, 3, ?, ?, NULL, 0, 0)
      """, .integer(Self.s(uptime + shift)), .integer(Self.s(uptime)), .integer(run), .integer(subject),
      .integer(Int64(old.rawValue)), .integer(Int64(state.rawValue)))
  }

  /// A reader at a moment of the present boot.
  func reader(at uptime: Int64) -> HistoryReader {
    HistoryReader(connection, now: StoreTime(wall: Self.s(uptime + shift), uptime: Self.s(uptime)))
  }
}
