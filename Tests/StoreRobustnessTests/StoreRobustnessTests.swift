import Glibc
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

  @Test("A database that is not damaged is read")
  func sound() throws { try StoreReading.use(DamagedStore(Self.template.get(), [])) }

  @Test("It is opened, restored, read and written without a trap and without a hang", arguments: seeds)
  func damaged(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let bytes = (0..<96).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    try StoreReading.use(DamagedStore(Self.template.get(), bytes))
  }

  @Test("Values that no service writes do not end the process", arguments: StoreDamage.values)
  func values(_ statements: String) throws {
    try StoreReading.use(DamagedStore(Self.template.get(), statements: statements))
  }

  @Test("Tables that are not those of a store do not end the process", arguments: StoreDamage.schemas)
  func schemas(_ statements: String) throws {
    try StoreReading.use(DamagedStore(Self.template.get(), statements: statements))
  }
}
