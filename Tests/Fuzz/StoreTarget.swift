/// A data directory whose database was changed: bits, rows, tables, the whole file.
enum StoreTarget {
  private static let template: StoreTemplate = {
    do { return try StoreTemplate() } catch { preconditionFailure("\(error)") }
  }()

  static func play(_ bytes: [UInt8]) {
    do {
      try StoreReading.use(DamagedStore(template, bytes))
    } catch {
      preconditionFailure("\(error)")
    }
  }
}
