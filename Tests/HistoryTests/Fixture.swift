import Database
import TestSupport
import ReachabilityModel
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
    try StoreSchema.configure(connection, isNew: true, maximumBytes: 1 << 32)
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
    let next = try connection.query("SELECT ifnull(max(seq), 0) + 1 FROM event") { $0.bits(0) }.first ?? 1
    try ServiceTime.begin(run, at: time(uptime), nextEvent: next, in: connection)
  }

  /// A moment of the present boot.
  func time(_ uptime: Int64) -> StoreTime { StoreTime(wall: Self.s(uptime + shift), uptime: Self.s(uptime)) }

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

  /// Publishes events of the machine at one moment, each with a transition, as the store does.
  func publish(_ events: ClosedRange<UInt64>, at uptime: Int64) throws {
    let now = time(uptime)
    var group = PendingRecords.Group()
    group.records = events.map { number in
      let record = EventRecord(
        sequence: number, time: now.wall, uptime: now.uptime, kind: 0, subject: HistorySubject.machine,
        body: Array("event \(number)".utf8),
        transition: TransitionRecord(type: .status, old: .unknown, new: .reachable))
      return PendingRecords.Waiting(record: record, since: 0, clocks: now)
    }
    _ = try GroupCommitWriter(connection, epoch: "6f1c2a90", run: run).commit(group)
    try live(until: uptime)
  }

  /// The numbers of the stored events.
  func events() throws -> [Int64] { try connection.query("SELECT seq FROM event ORDER BY seq") { $0.integer(0) } }

  /// A reader at a moment of the present boot.
  func reader(at uptime: Int64) -> HistoryReader { HistoryReader(connection, now: time(uptime)) }
}
