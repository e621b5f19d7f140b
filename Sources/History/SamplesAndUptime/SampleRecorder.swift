public import Database
internal import Locks

/// Collects the results of checks, and writes them on the thread of the store.
///
/// The samples of the present hour are in memory. Once a minute one row for all targets makes them durable. After the hour
/// they become a row of each target in `sample`, and roll-ups in `hour` and `day`.
public final class SampleRecorder: Sendable {
  private struct Received {
    var subject: String
    var sample: Sample
  }

  private struct State {
    /// The samples since the last call of ``flush(_:)``.
    var received: [Received] = []
    var open = OpenSampleHours()
    /// The numbers of the targets that had samples in the last minute.
    var references: [String: Int64] = [:]
    /// The run in the database that has these numbers; nil before the first one is read.
    var run: SampleRun?
    /// Samples that were dropped, because the store did not take them.
    var dropped: UInt64 = 0
  }

  private let state: Locked<State>

  /// Creates a recorder without samples.
  public init() { state = Locked(State()) }

  /// Adds a sample; it does not block.
  ///
  /// - Parameters:
  ///   - sample: the result of a check.
  ///   - subject: the name of the target's subject: `target:db`.
  /// - Returns: whether so many samples wait now that they must be written before the minute is over.
  @discardableResult
  public func record(_ sample: Sample, of subject: String) -> Bool {
    state.withLock { state in
      guard state.received.count < Limits.pendingSamples else {
        state.dropped += 1
        return false
      }
      state.received.append(Received(subject: subject, sample: sample))
      return state.received.count == Limits.writtenSamples
    }
  }

  /// The number of samples that were dropped, because the store did not take them.
  public var dropped: UInt64 { state.withLock(\.dropped) }

  /// The numbers of the subjects of samples in memory.
  var subjects: Set<Int64> {
    state.withLock { state in state.open.subjects.union(state.references.values) }
  }

  // MARK: - Writing, on the thread of the store

  /// Reads the samples that a killed process left behind.
  ///
  /// - Throws: SQLite's error.
  public func recover(_ connection: DatabaseConnection) throws(DatabaseError) {
    // The target up to which the end of an hour is written already.
    let (hour, subject) = try SampleTables.progress(connection)
    var entries: [SampleStaging.Entry] = []
    try connection.forEach("SELECT minute, data FROM sample_minute ORDER BY minute") { row in
      entries += SampleStaging.decode(row.blob(1), minute: row.integer(0))
      return true
    }
    let run = try SampleRun(connection)
    entries.removeAll { OpenSampleHours.hour(of: $0.sample.time) == hour && $0.subject <= subject }
    state.withLock { state in
      state.run = run
      for entry in entries { state.open.append(entry.sample, of: entry.subject) }
    }
  }

  /// Writes the samples since the last call, once a minute, and one part of an hour that is over.
  ///
  /// - Parameters:
  ///   - connection: the connection that writes, in a transaction.
  ///   - now: the present time.
  /// - Returns: what to do after the commit.
  /// - Throws: SQLite's error; the samples are written with the next call then.
  public func flush(_ connection: DatabaseConnection, at now: StoreTime) throws(DatabaseError) -> Flushed {
    let time = now.wall / 1_000
    let (received, references) = state.withLock { ($0.received, $0.references) }
    var (known, used) = (references, [String: Int64]())
    var open = state.withLock(\.open)
    // A database that takes the place of another one has other numbers; the open hour is lost with the other one.
    let run = try SampleRun(connection)
    let isReplaced = state.withLock { $0.run.map { $0 != run } ?? false }
    if isReplaced { (known, open) = ([:], OpenSampleHours()) }
    var entries: [SampleStaging.Entry] = []
    for item in received {
      var number = used[item.subject] ?? known[item.subject]
      if number == nil { number = try HistorySubject.reference(to: item.subject, in: connection) }
      // A higher one, of a version that did not limit it, would be that of another target in another hour.
      guard let subject = number, subject <= SampleKey.highestSubject else { continue }
      used[item.subject] = subject
      entries.append(SampleStaging.Entry(subject: subject, sample: item.sample))
    }
    var flushed = Flushed(
      count: received.count, references: used, entries: entries, isReplaced: isReplaced, run: run)
    if let hour = open.closedHour(at: time) { try end(hour, of: open, at: now, connection, &flushed) }
    // After the end of the hour, which deletes the rows of that hour: samples that arrive late are not in it.
    try SampleTables.stage(entries, at: time, connection)
    return flushed
  }

  /// Writes one part of an hour that is over.
  private func end(
    _ hour: Int64, of open: OpenSampleHours, at now: StoreTime, _ connection: DatabaseConnection,
    _ flushed: inout Flushed
  ) throws(DatabaseError) {
    let progress = try SampleTables.progress(connection)
    let last = progress.hour == hour ? progress.subject : 0
    let part = open.next(in: hour, after: last, limit: Limits.closedTargets)
    for (subject, chunk) in part { try SampleTables.close(chunk, of: subject, connection) }
    try SamplePeriod.note(hour: hour, at: try ServiceTime.now(now, in: connection), in: connection)
    flushed.written = part.map { OpenSampleHours.Key(hour: hour, subject: $0.subject) }
    flushed.hasMore = part.count == Limits.closedTargets
    try SampleTables.setProgress(flushed.hasMore ? (hour, part.last?.subject ?? 0) : nil, connection)
    guard !flushed.hasMore else { return }
    try SampleTables.unstage(through: hour, present: OpenSampleHours.hour(of: now.wall / 1_000), connection)
  }

  /// What ``flush(_:at:)`` has written.
  public struct Flushed: Sendable {
    fileprivate var count: Int
    fileprivate var references: [String: Int64]
    fileprivate var entries: [SampleStaging.Entry]
    fileprivate var isReplaced: Bool
    fileprivate var run: SampleRun
    fileprivate var written: [OpenSampleHours.Key] = []
    /// Whether the next call can follow immediately, because the hour that is over has more targets.
    public fileprivate(set) var hasMore = false
  }

  /// Removes from memory what was committed.
  public func committed(_ flushed: Flushed) {
    state.withLock { state in
      state.received.removeFirst(flushed.count)
      state.references = flushed.references
      state.run = flushed.run
      if flushed.isReplaced { state.open = OpenSampleHours() }
      state.open.remove(flushed.written)
      for entry in flushed.entries { state.open.append(entry.sample, of: entry.subject) }
    }
  }

  // MARK: - Reading

  /// The samples of a target that are not in the table `sample` yet.
  ///
  /// - Parameters:
  ///   - name: the name of the target's subject.
  ///   - subject: its number.
  /// - Returns: the samples, those of the open hour first.
  func samples(of name: String, _ subject: Int64) -> [Sample] {
    state.withLock { state in
      state.open.samples(of: subject)
        + state.received.filter { $0.subject == name }.map(\.sample)
    }
  }
}

/// The last run in a database: another database has another one.
private struct SampleRun: Hashable {
  private let id: Int64?
  private let token: Int64?

  init(_ connection: DatabaseConnection) throws(DatabaseError) {
    let last = try connection.query("SELECT id, token FROM run ORDER BY id DESC LIMIT 1") {
      ($0.integer(0), $0.optionalInteger(1))
    }
    (id, token) = (last.first?.0, last.first?.1)
  }
}
