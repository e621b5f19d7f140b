public import Logging

/// The settings of a store.
public struct StoreConfiguration: Sendable {
  /// The data directory; its last component is created if it does not exist, and symbolic links are followed.
  public var directory: String
  /// The directory of the page that outlives the process but not the machine; on a tmpfs.
  public var runtimeDirectory: String
  /// The size of the database from which the oldest rows are deleted, in bytes.
  public var maximumSize: Int64
  /// How long transitions are kept.
  public var keep: Duration
  /// Receives failures of the disk.
  public var logger: Logger
  /// Keeps the database from ending the start of a service; nil for none.
  public var start: StoreStart?

  /// One GiB, enough for a thousand targets over three years.
  public static let defaultMaximumSize: Int64 = 1 << 30
  /// 400 days: a year, and a month to look back over it.
  public static let defaultKeep = Duration.seconds(400 * 86_400)
  /// A tmpfs on every Linux.
  public static let defaultRuntimeDirectory = "/dev/shm"

  /// Creates settings.
  public init(
    directory: String, runtimeDirectory: String = defaultRuntimeDirectory, maximumSize: Int64 = defaultMaximumSize,
    keep: Duration = defaultKeep, logger: Logger
  ) {
    self.directory = directory
    self.runtimeDirectory = runtimeDirectory
    self.maximumSize = maximumSize
    self.keep = keep
    self.logger = logger
  }
}
