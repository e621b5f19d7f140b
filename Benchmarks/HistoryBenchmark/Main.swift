internal import Database
internal import Glibc
internal import History
internal import Logging

/// The history: a page of ten million rows, the uptime of one and of many targets, and the bytes of each kind of row.
///
/// `HistoryBenchmark DIRECTORY`; the directory needs two gigabytes.
@main struct HistoryBenchmark {
  private static let day: Int64 = 86_400_000_000

  static func main() throws {
    guard CommandLine.arguments.count == 2 else { fatalError("usage: HistoryBenchmark DIRECTORY") }
    let directory = CommandLine.arguments[1]
    try pages("\(directory)/pages")
    try uptimes("\(directory)/uptimes")
    try samples("\(directory)/samples")
  }

  /// A store's file with one run of 90 days and transitions that are evenly spread over targets and time.
  private static func fill(_ path: String, rows: Int64, targets: Int64, days: Int64) throws -> DatabaseConnection {
    let store = try HistoryStore.open(
      StoreConfiguration(directory: path, logger: Logger(label: "none", factory: { _ in SwiftLogNoOpLogHandler() })))
    try store.start()
    store.close(within: .seconds(10))
    try fillDatabase("\(path)/reachd.db", rows: rows, targets: targets, days: days)
    return try DatabaseConnection("\(path)/reachd.db", .readWrite)
  }

  private static func fillDatabase(_ path: String, rows: Int64, targets: Int64, days: Int64) throws {
    let connection = try DatabaseConnection(path, .readWrite)
    let now = StoreTime.now
    let start = now.wall - days * day
    // An earlier boot: this machine may run for minutes only, and no time of a boot is negative.
    let boot = day
    // The pages of the indexes stay in memory while rows are added in another order than theirs.
    try connection.execute(
      """
      PRAGMA synchronous = OFF;
      PRAGMA cache_size = -3000000;
      BEGIN;
      UPDATE run SET boot = 'earlier', started = \(start), started_uptime = \(boot), alive = \(now.wall),
        alive_uptime = \(boot + days * day), service = 0;
      UPDATE stretch SET at = \(start), uptime = \(boot), event = 0, transition = 1;
      DELETE FROM transition;
      DELETE FROM subject;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(targets))
        INSERT INTO subject(ref, name) SELECT i, 'target:t' || i FROM n;
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows - 1))
        INSERT INTO transition(epoch, seq, at, boottime, run, subject, type, old, new, reason, cause, flags)
        SELECT '6f1c2a90', i + 1, \(start) + i * (\(days * day) / \(rows)),
          \(boot) + i * (\(days * day) / \(rows)), 1, i % \(targets) + 1, 3,
          20 + (i / \(targets)) % 2, 20 + (i / \(targets) + 1) % 2, 18, 131072, 0 FROM n;
      COMMIT;
      """)
  }

  private static func pages(_ path: String) throws {
    let rows: Int64 = 10_000_000
    let connection = try fill(path, rows: rows, targets: 10_000, days: 90)
    let bytes = try size(connection)
    show("bytes per transition with indexes: \(bytes / rows)")
    let now = StoreTime.now
    var filter = HistoryFilter()
    report("page of \(rows) rows, the newest") { try HistoryReader(connection).page(filter).entries.count == 100 }
    filter.since = now.wall - 45 * day
    filter.isDescending = false
    report("page from 45 days ago") { try HistoryReader(connection).page(filter).entries.count == 100 }
    filter.subjects = (1...64).map { "target:t\($0)" }
    report("page of 64 targets") { try HistoryReader(connection).page(filter).entries.count == 100 }
    report("uptime of one target, 90 days in steps of a day") {
      try HistoryReader(connection).uptime(of: 5_000, in: now.wall - 90 * day..<now.wall, step: day).count == 90
    }
  }

  private static func uptimes(_ path: String) throws {
    let connection = try fill(path, rows: 10_000 * 4 * 30, targets: 10_000, days: 30)
    let now = StoreTime.now
    let targets = (1...10_000).map(Int64.init)
    report("uptime of 10,000 targets, 30 days, 4 transitions a day", rounds: 10) {
      try HistoryReader(connection).uptimes(of: targets, in: now.wall - 30 * day..<now.wall).count == 10_000
    }
  }

  /// The bytes of a row besides its data: header, key and length.
  private static let rowOverhead = 14.0

  /// One day of a thousand targets that are checked every 30 seconds.
  private static func samples(_ path: String) throws {
    let connection = try fill(path, rows: 1, targets: 1_000, days: 1)
    let recorder = SampleRecorder()
    var random = SystemRandomNumberGenerator()
    let start: Int64 = 500_000 * 3_600_000
    var minutes: [Double] = []
    for minute in 0..<Int64(24 * 60 + 1) {
      for target in 1...1_000 {
        for second in [Int64(target % 30), Int64(target % 30 + 30)] {
          let time = start + minute * 60_000 + second * 1_000 + Int64.random(in: -3...3, using: &random)
          recorder.record(
            Sample(time: time, latency: UInt32.random(in: 800...3_000, using: &random), state: .up),
            of: "target:t\(target)")
        }
      }
      var hasMore = true
      while hasMore {
        let begin = seconds()
        let flushed = try connection.transaction { () throws(DatabaseError) in
          let uptime = (minute + 1) * 60_000_000
          return try recorder.flush(connection, at: StoreTime(wall: start * 1_000 + uptime, uptime: uptime))
        }
        minutes.append(seconds() - begin)
        recorder.committed(flushed)
        hasMore = flushed.hasMore
      }
    }
    show("transactions of samples: \(percentiles(minutes))")
    for (table, name) in [("sample", "sample"), ("hour", "hour"), ("day", "day")] {
      let found = try connection.query("SELECT count(*), sum(length(data)) FROM \(table)") { row in
        (Double(row.integer(0)), Double(row.integer(1)))
      }
      let unit = table == "sample" ? 120.0 : 1
      show("bytes per \(name): \(((found[0].1 / found[0].0 + rowOverhead) / unit * 10).rounded() / 10)")
    }
  }

  // MARK: - Measuring

  private static func size(_ connection: DatabaseConnection) throws -> Int64 {
    let pages = try connection.query("PRAGMA page_count") { $0.integer(0) }
    return (pages.first ?? 0) * (try connection.pageSize())
  }

  private static func report(_ name: String, rounds: Int = 200, _ body: () throws -> Bool) {
    var times: [Double] = []
    for _ in 0..<rounds {
      let start = seconds()
      guard (try? body()) == true else { fatalError("\(name): wrong result") }
      times.append(seconds() - start)
    }
    show("\(name): \(percentiles(times))")
  }

  /// Prints a figure when it is known, also to a pipe.
  private static func show(_ line: String) {
    print(line)
    fflush(nil)
  }

  private static func percentiles(_ times: [Double]) -> String {
    let sorted = times.sorted()
    func milliseconds(_ share: Double) -> Double {
      (sorted[Int(share * Double(sorted.count - 1))] * 100_000).rounded() / 100
    }
    return "p50 \(milliseconds(0.5)) ms, p99 \(milliseconds(0.99)) ms"
  }

  private static func seconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
