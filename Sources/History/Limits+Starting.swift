extension Limits {
  /// Databases that were set aside and are kept, five incidents of two each.
  ///
  /// No more are set aside, because none is ever deleted. Each may be as large as `store.maxSize`.
  static let databasesAside = 10

  /// The time for reading a database that was set aside: 100,000 targets from a slow disk.
  static let salvageTime = Duration.seconds(30)

  /// Bytes that the process may allocate that reads it: the rest of the 128 MiB of the systemd unit, beside the service.
  static let salvageMemory = 32 << 20

  /// Bytes of them that SQLite may use; beyond, a row cannot be read, and the next one can.
  static let salvageHeap = 12 << 20

  /// Bytes of one value that is read; definitions of targets have at most `limits.requestBody`.
  static let salvagedValueBytes = 1 << 20

  /// Bytes that are read in total: 100,000 targets of 640 bytes.
  static let salvagedBytes = 64 << 20

  /// Rows of each table that are read: the maximum of `limits.targets`.
  static let salvagedRows = 100_000

  /// The time between two reports of progress while the store is opened.
  static let openingInterval = Duration.seconds(1)

  /// The time for the start that such a report requests from the service manager.
  static let openingExtension = Duration.seconds(30)

  /// The time for which readiness waits for the removal of the marker, which takes a millisecond.
  static let startEnd = Duration.seconds(1)

  /// The time between two looks at whether the databases that were set aside were acknowledged.
  static let noticeInterval = Duration.seconds(5)

  /// Characters of a notice; a longer reason is cut off.
  static let noticeCharacters = 600

  /// Bytes of the notices about them that are read, the last ones.
  static let noticeBytes = 16 << 10
}
