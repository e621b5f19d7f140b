internal import Database

/// The statements for the tables of samples and roll-ups.
enum SampleTables {
  /// Adds samples to the row of a minute, and samples of another hour to a row of that hour, so that the end of an hour
  /// deletes exactly its samples.
  static func stage(_ entries: [SampleStaging.Entry], at time: Int64, _ connection: DatabaseConnection)
    throws(DatabaseError)
  {
    let minute = time / SampleStaging.minuteLength
    for (hour, entries) in Dictionary(grouping: entries, by: { OpenSampleHours.hour(of: $0.sample.time) }) {
      try stage(entries, minute: min(max(minute, hour * 60), hour * 60 + 59), connection)
    }
  }

  private static func stage(_ entries: [SampleStaging.Entry], minute: Int64, _ connection: DatabaseConnection)
    throws(DatabaseError)
  {
    let stored = try connection.query("SELECT data FROM sample_minute WHERE minute = ?", .integer(minute)) {
      $0.blob(0)
    }
    try connection.run(
      "INSERT OR REPLACE INTO sample_minute(minute, data) VALUES(?, ?)", .integer(minute),
      .blob((stored.first ?? []) + SampleStaging.encode(entries, minute: minute)))
  }

  /// Deletes the rows of an hour that is over, and of all earlier ones but the present one, which is earlier after the
  /// clock was set back.
  static func unstage(through hour: Int64, present: Int64, _ connection: DatabaseConnection) throws(DatabaseError) {
    try connection.run(
      "DELETE FROM sample_minute WHERE minute < ? AND minute NOT BETWEEN ? AND ?", .integer((hour + 1) * 60),
      .integer(present * 60), .integer(present * 60 + 59))
  }

  /// Writes the samples of a target in an hour that is over, and adds them to its roll-ups.
  ///
  /// An hour can end twice when the clock was set back; then the samples are added to those of the first time.
  static func close(_ chunk: SampleChunk, of subject: Int64, _ connection: DatabaseConnection) throws(DatabaseError) {
    let samples = chunk.samples
    let key = SampleKey.key(chunk.hour, subject)
    var stored = chunk
    if let bytes = try data("sample", key, connection) {
      stored = SampleChunk(bytes: bytes, hour: chunk.hour)
      for sample in samples { stored.append(sample) }
    }
    try write(stored.bytes, "sample", key, connection)
    let rollup = LatencyRollup(samples)
    try merge(rollup, into: "hour", key, connection)
    try merge(rollup, into: "day", SampleKey.key(chunk.hour / 24, subject), connection)
  }

  private static func merge(_ rollup: LatencyRollup, into table: String, _ key: Int64, _ connection: DatabaseConnection)
    throws(DatabaseError)
  {
    var merged = try data(table, key, connection).flatMap(LatencyRollup.init(bytes:)) ?? LatencyRollup()
    merged.merge(rollup)
    try write(merged.bytes, table, key, connection)
  }

  private static func data(_ table: String, _ key: Int64, _ connection: DatabaseConnection) throws(DatabaseError)
    -> [UInt8]?
  {
    try connection.query("SELECT data FROM \(table) WHERE key = ?", .integer(key)) { $0.blob(0) }.first
  }

  private static func write(_ bytes: [UInt8], _ table: String, _ key: Int64, _ connection: DatabaseConnection)
    throws(DatabaseError)
  {
    try connection.run("INSERT OR REPLACE INTO \(table)(key, data) VALUES(?, ?)", .integer(key), .blob(bytes))
  }

  // MARK: - Progress

  private static let progressKey = "samples_closed"

  /// The last target whose samples of an hour are in the tables while others of that hour are not; hour -1 for none.
  ///
  /// It is committed with these samples, so that a killed process adds no sample twice.
  static func progress(_ connection: DatabaseConnection) throws(DatabaseError) -> (hour: Int64, subject: Int64) {
    let keys = try connection.query("SELECT value FROM meta WHERE key = ?", .text(progressKey)) { $0.integer(0) }
    return keys.first.map { (SampleKey.period(of: $0), SampleKey.subject(of: $0)) } ?? (-1, 0)
  }

  static func setProgress(_ progress: (hour: Int64, subject: Int64)?, _ connection: DatabaseConnection)
    throws(DatabaseError)
  {
    guard let progress else {
      try connection.run("DELETE FROM meta WHERE key = ?", .text(progressKey))
      return
    }
    try connection.run(
      "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", .text(progressKey),
      .integer(SampleKey.key(progress.hour, progress.subject)))
  }
}
