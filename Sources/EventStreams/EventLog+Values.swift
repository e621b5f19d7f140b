extension EventLog {
  /// What a read brought.
  public enum Read: Sendable, Equatable {
    /// Bytes, and the id of the last entry among them that is complete.
    case bytes(count: Int, lastID: UInt64?)
    /// Nothing new.
    case empty
    /// The cursor's entry was evicted: something was missed.
    case lapped
  }

  /// One entry, copied out.
  public struct Entry: Sendable, Equatable {
    /// The id; several entries may share one.
    public var id: UInt64
    /// The kind, a number below 64.
    public var kind: UInt8
    /// What it is about, for readers who choose by that; 0 for all readers of its kind.
    public var topic: UInt64
    /// The framed bytes.
    public var bytes: [UInt8]

    /// An entry.
    public init(id: UInt64, kind: UInt8, topic: UInt64 = 0, bytes: [UInt8]) {
      self.id = id
      self.kind = kind
      self.topic = topic
      self.bytes = bytes
    }
  }

  /// How full a log is.
  public struct Occupancy: Sendable, Equatable {
    /// Entries that are here, and how many there is room for.
    public var entries: Int, entryCapacity: Int
    /// Bytes that are here, and how many there is room for.
    public var bytes: Int, byteCapacity: Int
    /// Entries appended since the log began.
    public var appended: UInt64
  }
}
