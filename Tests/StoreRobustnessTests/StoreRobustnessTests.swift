import Glibc
import History
import TestSupport
import Testing

@Suite("A damaged database")
struct StoreRobustnessTests {
  /// `REACHD_STORE_SEEDS=17` or `=0-999` sets which changes are made.
  private static let seeds: [UInt64] = {
    guard let value = unsafe getenv("REACHD_STORE_SEEDS") else { return Array(0..<60) }
    let bounds = unsafe String(cString: value).split(separator: "-").compactMap { UInt64($0) }
    return bounds.isEmpty ? [] : Array(bounds[0]...max(bounds[0], bounds[bounds.count - 1]))
  }()

  private static let template = Result { try StoreTemplate() }

  /// Opens a changed store, restores and reads everything, writes, and opens it again.
  private func use(_ damaged: DamagedStore) throws {
    let changes = damaged.changes.joined(separator: "; ")
    for start in ["first", "second"] {
      do {
        let reading = try StoreReading(damaged.data.path, damaged.runtime.path)
        try reading.readAll()
        try reading.fill()
        #expect(reading.isKeeping, "events are not committed; \(start) start after: \(changes)")
        #expect(reading.close(), "the store does not close; \(start) start after: \(changes)")
      } catch let error as StoreError {
        guard case .newerSchema = error else { throw TestError("\(error); \(start) start after: \(changes)") }
      } catch {
        throw TestError("\(error); \(start) start after: \(changes)")
      }
    }
  }

  @Test("A database that is not damaged is read")
  func sound() throws { try use(DamagedStore(Self.template.get(), [])) }

  @Test("It is opened, restored, read and written without a trap and without a hang", arguments: seeds)
  func damaged(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let bytes = (0..<96).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    try use(DamagedStore(Self.template.get(), bytes))
  }

  @Test("Values that no service writes do not end the process", arguments: StoreDamage.values)
  func values(_ statements: String) throws { try use(DamagedStore(Self.template.get(), statements: statements)) }

  @Test("Tables that are not those of a store do not end the process", arguments: StoreDamage.schemas)
  func schemas(_ statements: String) throws { try use(DamagedStore(Self.template.get(), statements: statements)) }
}
