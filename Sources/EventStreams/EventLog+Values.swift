extension EventLog {
  /// The result of a read.
  public enum Read: Sendable, Equatable {
    /// Bytes were read; `lastID` is the id of the last complete entry among them.
    case bytes(count: Int, lastID: UInt64?)
    /// There is no new entry.
    case empty
    /// The cursor's entry was evicted, so the reader missed entries.
    case lapped
  }

  /// A copy of one entry.
  public struct Entry: Sendable, Equatable {
    /// The id; several entries may share one.
    public var id: UInt64
    /// The kind, a number below 64.
    public var kind: UInt8
    /// The topic, for readers that select by topic; 0 for all readers of the kind.
    public var topic: UInt64
    /// The framed bytes.
    public var bytes: [UInt8]

    /// Makes an entry.
    public init(id: UInt64, kind: UInt8, topic: UInt64 = 0, bytes: [UInt8]) {
      self.id = id
      self.kind = kind
      self.topic = topic
      self.bytes = bytes
    }
  }

  /// How full a log is.
  public struct Occupancy: Sendable, Equatable {
    /// The number of stored entries, and the capacity for entries.
    public var entries: Int, entryCapacity: Int
    /// The number of stored bytes, and the capacity for bytes.
    public var bytes: Int, byteCapacity: Int
    /// Entries appended since the log was created.
    public var appended: UInt64
  }
}
