import Database
import Testing

@testable import History

@Suite("Event pages")
struct EventPageTests {
  private let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  private func page(_ store: HistoryStore, after sequence: UInt64, limit: Int = 1 << 20) async throws -> EventPage {
    try await withCheckedContinuation { continuation in
      store.page(after: sequence, limit: limit) { continuation.resume(returning: $0) }
    }.get()
  }

  private func sequences(_ page: EventPage) -> [UInt64]? {
    if case .events(let events) = page { events.map(\.sequence) } else { nil }
  }

  @Test("A page ends at its limit, and the next one follows")
  func limit() async throws {
    let store = try directory.open()
    defer { store.close(within: .seconds(10)) }
    _ = store.append((1...5).map { event($0) })
    try await store.commit()
    #expect(sequences(try await page(store, after: 0)) == [1, 2, 3, 4, 5])
    // Each frame has 7 bytes.
    #expect(sequences(try await page(store, after: 1, limit: 15)) == [2, 3])
    #expect(sequences(try await page(store, after: 1, limit: 1)) == [2])
    #expect(try await page(store, after: 5) == .end)
  }

  @Test("A page ends before a hole, which is reported, as are events that were deleted")
  func missing() async throws {
    let store = try directory.open()
    defer { store.close(within: .seconds(10)) }
    _ = store.append((1...9).map { event($0) })
    try await store.commit()
    try await withCheckedContinuation { continuation in
      store.write({ (connection) throws(DatabaseError) in
        try connection.run("DELETE FROM event WHERE seq < 3 OR seq IN (5, 6)")
        try connection.run("INSERT INTO hole VALUES(5, 6)")
      }) { continuation.resume(returning: $0) }
    }.get()
    #expect(try await page(store, after: 0) == .missing(through: 2))
    #expect(sequences(try await page(store, after: 2)) == [3, 4])
    #expect(try await page(store, after: 4) == .missing(through: 6))
    #expect(sequences(try await page(store, after: 6)) == [7, 8, 9])
  }

  @Test("A hole at the end is reported")
  func holeAtEnd() async throws {
    let store = try directory.open()
    defer { store.close(within: .seconds(10)) }
    _ = store.append([event(1)])
    try await store.commit()
    try await withCheckedContinuation { continuation in
      store.write({ (connection) throws(DatabaseError) in
        try connection.run("INSERT INTO hole VALUES(3, 4)")
      }) { continuation.resume(returning: $0) }
    }.get()
    #expect(try await page(store, after: 1) == .missing(through: 4))
  }
}
