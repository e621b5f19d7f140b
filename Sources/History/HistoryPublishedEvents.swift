public import Database

/// What a fleet has of this service's events; the others are kept longer.
public struct HistoryPublishedEvents: Hashable, Sendable {
  /// The epoch of the events.
  public var epoch: String
  /// The number up to which the fleet has them.
  public var through: Int64
  /// The highest number that the fleet ever had.
  public var throughEver: Int64

  /// The key in the table `meta`.
  private static let key = "fleet"

  /// Creates a value.
  public init(epoch: String, through: Int64, throughEver: Int64) {
    self.epoch = epoch
    self.through = through
    self.throughEver = throughEver
  }

  /// Reads what is stored; nil for nothing.
  ///
  /// - Throws: SQLite's error.
  public init?(_ connection: DatabaseConnection) throws(DatabaseError) {
    let found = try connection.query("SELECT value FROM meta WHERE key = ?", .text(Self.key)) { $0.text(0) ?? "" }
    let parts = found.first?.split(separator: " ") ?? []
    guard parts.count == 3, let through = Int64(parts[1]), let ever = Int64(parts[2]) else { return nil }
    self.init(epoch: String(parts[0]), through: through, throughEver: ever)
  }

  /// Stores it: `6f1c2a90 815 815`.
  ///
  /// - Throws: SQLite's error.
  public func save(_ connection: DatabaseConnection) throws(DatabaseError) {
    try connection.run(
      "INSERT INTO meta(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
      .text(Self.key), .text("\(epoch) \(through) \(throughEver)"))
  }
}
