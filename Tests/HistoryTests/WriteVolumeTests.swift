import Database
import TestSupport
import Testing

@testable import History

/// The bytes that one event writes: each page of a table or index that it changes is written as a whole (ADR 65).
@Suite struct WriteVolumeTests {
  private let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  /// What an event changes besides its own row.
  enum Effect: CaseIterable {
    case nothing, state, target
  }

  private func record(_ number: UInt64, _ effect: Effect) -> EventRecord {
    var record = event(number, HistorySubject.target("t\(number % 50)"))
    record.body = [UInt8](repeating: 0x61, count: 460)
    switch effect {
    case .nothing: break
    case .state: record.state = [UInt8](repeating: UInt8(number & 0xff), count: 150)
    case .target:
      record.target = .put(
        TargetRecord(
          id: "t\(number % 50)", definition: String(repeating: "x", count: 300), origin: "runtime", revision: number,
          state: [UInt8](repeating: UInt8(number & 0xff), count: 70)))
    }
    return record
  }

  @Test(
    "An event that is committed alone writes at most 8 KB, with its part of a checkpoint", arguments: Effect.allCases)
  func bytes(_ effect: Effect) async throws {
    let store = try directory.open()
    // The subjects and the first pages.
    for number in UInt64(1)...100 { _ = store.append([record(number, effect)]) }
    try await store.commit()
    let begin = store.files.directory.size(of: "reachd.db-wal")
    for number in UInt64(101)...600 {
      _ = store.append([record(number, effect)])
      try await store.commit()
    }
    let written = store.files.directory.size(of: "reachd.db-wal") - begin
    let pages = try await store.rows { (db) throws(DatabaseError) in
      try db.query("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") { $0.integer(0) }
    }
    #expect(written > 500 * 460, "each event is in the log")
    #expect((written + pages[0]) / 500 <= 8_000, "\(written / 500) in the log, \(pages[0] / 500) in the database")
    #expect(store.close(within: .seconds(10)))
  }

  @Test("A database of an earlier version keeps its larger pages, and takes events")
  func largerPages() async throws {
    let path = "\(directory.data.path)/reachd.db"
    do {
      let connection = try DatabaseConnection(path, .readWrite)
      try connection.execute("PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL")
      try StoreSchema.migrate(connection, from: 0)
    }
    func pageSize() throws -> Int64 { try DatabaseConnection(path, .readOnly).pageSize() }
    var store = try directory.open()
    _ = store.append([record(1, .target)])
    try await store.commit()
    #expect(store.close(within: .seconds(10)))
    #expect(try pageSize() == 4096)
    // What the documents say for a stopped service.
    try DatabaseConnection(path, .readWrite).execute(
      "PRAGMA journal_mode=DELETE; PRAGMA page_size=1024; VACUUM")
    store = try directory.open()
    #expect(store.recovered.lastEnd == .clean)
    #expect(store.recovered.lastSequence == 1)
    #expect(store.recovered.events.map(\.body.count) == [460])
    #expect(store.recovered.targets.map(\.id) == ["t1"])
    _ = store.append([record(2, .target)])
    try await store.commit()
    #expect(store.close(within: .seconds(10)))
    #expect(try pageSize() == 1024)
  }
}
