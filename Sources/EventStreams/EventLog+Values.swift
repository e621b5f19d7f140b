extension EventLog {
  /// The highest kind of an entry: kinds are the bits of a mask.
  public static let highestKind: UInt8 = 63

  /// The result of a read.
  public enum Read: Sendable, Equatable {
    /// Bytes were read; `lastID` is the id of the last complete entry among them.
    case bytes(count: Int, lastID: UInt64?)
    /// There is no new entry.
    case empty
    /// The cursor's entry was evicted, so the reader missed entries.
    case lapped
  }

  /// What an entry concerns, for readers that select by it: hashes of names, or 0 where it concerns all readers.
  public struct Labels: Sendable, Hashable {
    /// The subject, such as a target.
    public var topic: UInt64
    /// The reporter of the subject, such as an agent of a fleet.
    public var source: UInt64
    /// The group of the reporter, such as its zone.
    public var group: UInt64

    /// Makes the labels of an entry; by default it concerns all readers of its kind.
    public init(topic: UInt64 = 0, source: UInt64 = 0, group: UInt64 = 0) {
      self.topic = topic
      self.source = source
      self.group = group
    }
  }

  /// Returns a name, such as a target's id, as a label: hashed with a random key, against collisions by clients.
  ///
  /// A stream can follow an id before it is registered, and the log keeps the events of removed targets.
  package static func label(_ name: String) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(name)
    return max(1, UInt64(UInt(bitPattern: hasher.finalize())))
  }

  /// A copy of one entry.
  public struct Entry: Sendable, Equatable {
    /// The id; several entries may share one.
    public var id: UInt64
    /// The kind, at most ``EventLog/highestKind``.
    public var kind: UInt8
    /// What it concerns.
    public var labels: Labels
    /// The framed bytes.
    public var bytes: [UInt8]
    /// Where the data is in the bytes, without its frame.
    public var data: Range<Int>
    /// What a reader's id must have in common with the entry besides the number; 0 for ids that are a number only.
    public var check: UInt32

    /// Makes an entry; without a frame by default.
    public init(
      id: UInt64, kind: UInt8, labels: Labels = Labels(), bytes: [UInt8], data: Range<Int>? = nil, check: UInt32 = 0
    ) {
      self.id = id
      self.kind = kind
      self.labels = labels
      self.bytes = bytes
      self.data = data ?? 0..<bytes.count
      self.check = check
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
