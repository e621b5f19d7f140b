import Database
import Glibc
import TestSupport

/// A database that the service has written: two runs, targets in several states, samples of several hours, webhooks and their
/// deliveries, a hole, and what a fleet has of the events.
struct StoreTemplate: Sendable {
  /// The bytes of its file.
  let database: [UInt8]

  /// Has the service write it.
  init() throws {
    let (data, runtime) = (try TemporaryDirectory(), try TemporaryDirectory(in: "/dev/shm"))
    for _ in 0..<2 {
      let reading = try StoreReading(data.path, runtime.path)
      try reading.fill()
      guard reading.close() else { throw TestError("the store did not close") }
    }
    let path = "\(data.path)/reachd.db"
    let connection = try DatabaseConnection(path)
    try connection.execute(
      """
      INSERT INTO hole(first, last) VALUES(2, 3);
      DELETE FROM event WHERE seq BETWEEN 2 AND 3;
      INSERT INTO delivery(webhook, event, at, result, ms, status, detail)
        SELECT 'ops', epoch || '-' || 1, alive, 'failed', 15, 503, 'x' FROM run;
      INSERT OR REPLACE INTO meta(key, value) SELECT 'fleet', value || ' 4 6' FROM meta WHERE key = 'epoch';
      PRAGMA wal_checkpoint(TRUNCATE);
      """)
    database = Self.read(path)
    guard database.count > 4096 else { throw TestError("the database is empty") }
  }

  /// The content of a file; empty if it cannot be read.
  static func read(_ path: String) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_size > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
    return count == bytes.count ? bytes : []
  }
}
