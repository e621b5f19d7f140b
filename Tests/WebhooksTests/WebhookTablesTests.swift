import Database
import History
import Logging
import ReachabilityModel
import TestSupport
import Testing

@testable import Webhooks

@Suite("Webhook tables")
struct WebhookTablesTests {
  private let data: TemporaryDirectory
  private let runtime: TemporaryDirectory

  init() throws {
    data = try TemporaryDirectory()
    runtime = try TemporaryDirectory(in: "/dev/shm")
  }

  private func open() throws -> HistoryStore {
    let store = try HistoryStore.open(
      StoreConfiguration(
        directory: data.path, runtimeDirectory: runtime.path,
        logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })))
    try store.start()
    return store
  }

  private func load(_ tables: WebhookTables) async -> [String: WebhookPosition]? {
    await withCheckedContinuation { continuation in tables.load { continuation.resume(returning: $0) } }
  }

  private func save(
    _ tables: WebhookTables, _ positions: [String: WebhookPosition], _ records: [WebhookLogEntry] = []
  ) async -> Bool {
    await withCheckedContinuation { continuation in
      tables.save(positions, records) { continuation.resume(returning: $0) }
    }
  }

  private func log(_ tables: WebhookTables, _ id: String, before: Int64? = nil, limit: Int = 5_000) async
    -> [WebhookLogEntry]?
  {
    await withCheckedContinuation { continuation in
      tables.log(of: id, before: before, limit: limit) { continuation.resume(returning: $0) }
    }
  }

  private static func record(_ number: Int, _ result: WebhookDeliveryRecord.Result = .delivered)
    -> WebhookDeliveryRecord
  {
    WebhookDeliveryRecord(
      message: "e-\(number)", time: Timestamp(microseconds: Int64(number)), result: result,
      duration: .milliseconds(number), status: 204, detail: number == 1 ? "a detail" : nil)
  }

  @Test("Everything in a position survives a restart")
  func positions() async throws {
    var full = WebhookPosition(epoch: "0a1b2c3d", settled: 1 << 40)
    full.failures = 3
    full.rejections = 2
    full.notBefore = Timestamp(microseconds: 77)
    full.pause = .gone
    full.gap = WebhookGap(
      reason: .expired, after: "0a1b2c3d-5", last: .max, count: 9, time: Timestamp(microseconds: -1))
    let plain = WebhookPosition(epoch: "0a1b2c3d", settled: 0)
    do {
      let store = try open()
      #expect(await load(WebhookTables(store)) == [:])
      #expect(await save(WebhookTables(store), ["a": full, "b": full]))
      #expect(await save(WebhookTables(store), ["b": plain]))
      store.close(within: .seconds(10))
    }
    let store = try open()
    defer { store.close(within: .seconds(10)) }
    #expect(await load(WebhookTables(store)) == ["a": full, "b": plain])
  }

  @Test("The log is read in pages, the newest entries first, and is per webhook")
  func pages() async throws {
    let store = try open()
    defer { store.close(within: .seconds(10)) }
    let tables = WebhookTables(store)
    let entries = (1...5).map { WebhookLogEntry(webhook: $0 == 3 ? "other" : "ops", record: Self.record($0)) }
    #expect(await save(tables, [:], entries))
    let first = try #require(await log(tables, "ops", limit: 2))
    #expect(first.map(\.record) == [Self.record(5), Self.record(4)])
    let second = try #require(await log(tables, "ops", before: first.last?.number, limit: 9))
    #expect(second.map(\.record) == [Self.record(2), Self.record(1)])
  }

  @Test("The log of a webhook is limited")
  func trimming() async throws {
    let store = try open()
    defer { store.close(within: .seconds(10)) }
    let tables = WebhookTables(store)
    for start in stride(from: 0, to: 1_500, by: 50) {
      let entries = (start..<start + 50).map { WebhookLogEntry(webhook: "ops", record: Self.record($0)) }
      let quiet = start == 0 ? [WebhookLogEntry(webhook: "quiet", record: Self.record(1))] : []
      #expect(await save(tables, [:], entries + quiet))
    }
    let left = try #require(await log(tables, "ops"))
    #expect(left.count >= Limits.loggedDeliveries && left.count <= Limits.loggedDeliveries + Limits.loggedExcess)
    #expect(left.first?.record == Self.record(1_499))
    #expect(await log(tables, "quiet")?.count == 1)
  }

  @Test("The position of a removed webhook stays for seven days in which the service runs")
  func removed() async throws {
    let store = try open()
    defer { store.close(within: .seconds(10)) }
    let tables = WebhookTables(store)
    let position = WebhookPosition(epoch: "e", settled: 7)
    #expect(await save(tables, ["ops": position, "old": position], []))
    let day: Int64 = 86_400_000_000
    func left(_ configured: [String], after service: Int64) async throws -> Set<String> {
      await withCheckedContinuation { continuation in
        store.write({ (connection) throws(DatabaseError) in
          // A clock that was 450 days ahead.
          try connection.run("UPDATE webhook SET seen = 450 * ?", .integer(day))
          try WebhookTables.forgetRemoved(connection, configured, now: service)
        }) { _ in continuation.resume() }
      }
      return Set(await load(tables)?.keys.map(\.self) ?? [])
    }
    #expect(try await left(["ops", "old"], after: 10 * day) == ["ops", "old"])
    #expect(try await left(["ops"], after: 17 * day) == ["ops", "old"])
    #expect(try await left(["ops"], after: 17 * day + 1) == ["ops"])
    // A service that was not updated for long keeps what is configured.
    #expect(try await left(["ops"], after: 100 * day) == ["ops"])
  }
}
