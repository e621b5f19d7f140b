import Database
import Locks
import Logging
import TestSupport
import Testing

@testable import History

/// More events than retention deletes in its interval.
@Suite struct StoreFloodTests {
  private let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  private func append(_ numbers: ClosedRange<UInt64>, to store: HistoryStore, bytes: Int = 2_000) {
    for number in numbers {
      var record = event(number)
      record.body = [UInt8](repeating: 0x61, count: bytes)
      _ = store.append([record])
    }
  }

  @Test("The database stays below its size in a flood of events", .timeLimit(.minutes(3)))
  func size() async throws {
    var configuration = directory.configuration
    configuration.maximumSize = 16 << 20
    let store = try HistoryStore.open(configuration)
    try store.start()
    let keeper = HistoryKeeper(store)
    var largest: Int64 = 0
    // 60 MB; a disk that is slow for a moment must not fail the test.
    for begin in stride(from: UInt64(1), to: 30_001, by: 500) {
      append(begin...begin + 499, to: store)
      try await store.commit()
      largest = max(largest, store.files.directory.size(of: "reachd.db"))
    }
    #expect(store.load.unkept == 0)
    #expect(store.statistics.commitFailures == 0)
    #expect(largest <= 20 << 20, "\(largest)")
    #expect(store.close(within: .seconds(30)))
    #expect(store.files.directory.size(of: "reachd.db") <= 20 << 20)
    withExtendedLifetime(keeper) {}
  }

  private final class Collected: Sendable {
    let lines = Locked<[String]>([])
  }

  /// Collects the lines of a logger.
  private struct Lines: LogHandler {
    let collected: Collected
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      collected.lines.withLock { $0.append((["\(event.level)", "\(event.message)"] + facts).joined(separator: " ")) }
    }
  }

  @Test("Events that are not kept at the end are logged with their number", arguments: [false, true])
  func lostAtTheEnd(_ isBlocked: Bool) async throws {
    let collected = Collected()
    var configuration = directory.configuration
    configuration.logger = Logger(label: "test", factory: { [collected] _ in Lines(collected: collected) })
    let store = try HistoryStore.open(configuration)
    try store.start()
    append(1...3, to: store)
    try await store.commit()
    let other = try DatabaseConnection("\(directory.data.path)/reachd.db", .readWrite)
    try other.run("BEGIN IMMEDIATE")
    append(4...10, to: store)
    #expect(eventually { store.statistics.commitFailures > 0 })
    // With no time left, the thread may not have ended.
    _ = store.close(within: isBlocked ? .zero : .seconds(10))
    try other.run("ROLLBACK")
    #expect(
      eventually {
        collected.lines.withLock { $0.contains { $0.contains("not kept") && $0.contains("events=7") } }
      }, "\(collected.lines.withLock(\.self))")
  }
}
