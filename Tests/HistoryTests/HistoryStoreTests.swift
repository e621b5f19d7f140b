import Database
import Glibc
import Locks
import Logging
import ReachabilityModel
import TestSupport
import Testing

@testable import History

/// A store in a directory of its own, whose page is in another one.
struct StoreDirectory {
  let data: TemporaryDirectory
  let runtime: TemporaryDirectory

  init() throws {
    data = try TemporaryDirectory()
    runtime = try TemporaryDirectory(in: "/dev/shm")
  }

  var configuration: StoreConfiguration {
    StoreConfiguration(
      directory: data.path, runtimeDirectory: runtime.path,
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
  }

  func open() throws -> HistoryStore {
    let store = try HistoryStore.open(configuration)
    try store.start()
    return store
  }
}

/// An event with a number.
func event(_ sequence: UInt64, _ subject: String = HistorySubject.machine, state: [UInt8]? = nil) -> EventRecord {
  EventRecord(
    sequence: sequence, time: Int64(sequence) * 1_000_000, uptime: 1, kind: 0, subject: subject,
    body: Array("event \(sequence)".utf8), transition: TransitionRecord(type: .status, old: .unknown, new: .reachable),
    state: state)
}

extension HistoryStore {
  /// Waits until everything that was handed over is committed.
  func commit() async throws {
    try await withCheckedContinuation { continuation in afterCommit { continuation.resume(returning: $0) } }.get()
  }

  /// The result of a query.
  func rows<Value: Sendable>(
    _ query: @escaping @Sendable (DatabaseConnection) throws(DatabaseError) -> Value
  ) async throws -> Value {
    try await withCheckedContinuation { continuation in
      read(query) { continuation.resume(returning: $0) }
    }.get()
  }
}

@Suite("HistoryStore")
struct HistoryStoreTests {
  private let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  @Test("The settings keep the count of the log's pages, which bounds the log")
  func logBytes() throws {
    let fixture = try HistoryFixture()
    let before = fixture.connection.logBytes
    #expect(before > 0)
    try fixture.connection.run("INSERT INTO meta VALUES('key', 'value')")
    #expect(fixture.connection.logBytes > before)
    #expect(try fixture.connection.checkpoint().pages > 0)
    #expect(fixture.connection.logBytes == 0)
  }

  @Test("Events are visible after their commit, and a clean end keeps epoch, numbers and states")
  func cleanEnd() async throws {
    let first = try directory.open()
    #expect(first.recovered.lastEnd == .none)
    #expect(first.recovered.lastSequence == 0)
    let visible = Locked<[UInt64]>([])
    first.observe { end in visible.withLock { $0.append(end) } }
    #expect(!first.append([event(1), event(2, HistorySubject.interface("eth0"), state: [1, 2])]))
    try await first.commit()
    #expect(first.visibleEnd == 2)
    #expect(visible.withLock { $0.last } == 2)
    #expect(
      try await first.rows { (db) throws(DatabaseError) in
        try db.query("SELECT count(*) FROM transition WHERE seq > 0") { $0.integer(0) }
      } == [2])
    #expect(first.close(within: .seconds(10)))

    let second = try directory.open()
    #expect(second.recovered.lastEnd == .clean)
    #expect(second.recovered.epoch == first.recovered.epoch)
    #expect(second.recovered.lastSequence == 2)
    #expect(second.recovered.events.map(\.sequence) == [1, 2])
    #expect(second.recovered.events.last?.body == Array("event 2".utf8))
    #expect(second.recovered.subjects == ["interface:eth0": [1, 2]])
    second.close(within: .seconds(10))
  }

  @Test("Events that do not fit while nothing can be written are a hole, of as many as the store counts")
  func hole() async throws {
    let store = try directory.open()
    #expect(!store.append([event(1)]))
    try await store.commit()
    let other = try DatabaseConnection("\(directory.data.path)/reachd.db", .readWrite)
    try other.run("BEGIN IMMEDIATE")
    for number in UInt64(2)...41 {
      var large = event(number)
      large.body = [UInt8](repeating: 0x61, count: 1 << 20)
      _ = store.append([large])
    }
    #expect(eventually { store.visibleEnd == 41 }, "they are visible without a commit")
    try other.run("ROLLBACK")
    #expect(eventually(within: .seconds(30)) { store.state == .keeping })
    let unkept = store.load.unkept
    #expect((20...40).contains(unkept))
    #expect(
      try await store.rows { (db) throws(DatabaseError) in
        try db.query("SELECT sum(last - first + 1) FROM hole") { $0.bits(0) }
      } == [unkept])
    #expect(
      try await store.rows { (db) throws(DatabaseError) in
        try db.query("SELECT count(*) FROM event") { $0.bits(0) }
      } == [41 - unkept])
    store.close(within: .seconds(10))
  }

  @Test("A database larger than a reduced limit takes events, and retention makes it smaller", .timeLimit(.minutes(2)))
  func reducedLimit() async throws {
    var record = event(1)
    record.body = [UInt8](repeating: 0x61, count: 10_000)
    func append(_ numbers: ClosedRange<UInt64>, to store: HistoryStore) async throws {
      for number in numbers {
        record.sequence = number
        _ = store.append([record])
      }
      try await store.commit()
    }
    var store = try directory.open()
    try await append(1...500, to: store)
    #expect(store.close(within: .seconds(30)))
    var configuration = directory.configuration
    configuration.maximumSize = 1 << 20
    store = try HistoryStore.open(configuration)
    try store.start()
    try await append(501...700, to: store)
    #expect(store.state == .keeping)
    var policy = RetentionPolicy()
    policy.maximumSize = configuration.maximumSize
    let hasMore = Locked(true)
    while hasMore.withLock(\.self) {
      store.write { [policy] (connection) throws(DatabaseError) in
        var progress = RetentionProgress()
        let isUnfinished = try HistoryRetention.apply(connection, policy, &progress)
        hasMore.withLock { $0 = isUnfinished }
      }
      try await store.commit()
    }
    let pages = try await store.rows { (connection) throws(DatabaseError) in
      try connection.query("SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count") {
        $0.integer(0)
      }
    }
    #expect(pages[0] * Int64(StoreSchema.pageBytes) <= 1 << 20)
    #expect(store.close(within: .seconds(30)))
  }

  @Test("Only the owner can read the files of a restored store", arguments: [0o644, 0o666, 0o640, 0o604, 0o755, 0o600])
  func modes(_ mode: mode_t) throws {
    #expect(try directory.open().close(within: .seconds(10)))
    let names = ["reachd.db", "reachd.db-wal", "lock"]
    let paths = names.map { "\(directory.data.path)/\($0)" }
    for path in paths { #expect(unsafe chmod(path, mode) == 0) }
    let store = try directory.open()
    for path in paths + ["\(directory.data.path)/reachd.db-shm"] {
      var status = stat()
      #expect(unsafe stat(path, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600, "\(path)")
    }
    #expect(store.close(within: .seconds(10)))
  }

  @Test("A second store in the same directory is refused")
  func oneProcess() throws {
    let first = try directory.open()
    let error = #expect(throws: StoreError.self) { _ = try HistoryStore.open(directory.configuration) }
    guard case .inUse = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    first.close(within: .seconds(10))
  }
}
