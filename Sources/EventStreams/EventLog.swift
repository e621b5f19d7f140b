internal import Locks

/// A bounded log of framed bytes with one writer at a time and any number of readers, each with a cursor of its own.
///
/// Appending never waits for a reader: the oldest entries make room, and a reader who was too slow is told that it was
/// lapped. A log that is followed by streams wakes their servers after each append.
public final class EventLog: Sendable {
  /// A reader's place: the next entry to read.
  public struct Cursor: Sendable, Equatable {
    /// The entry's number, counted from the first ever appended.
    var index: UInt64
    /// Bytes of it that were read already.
    package internal(set) var offset: Int
    /// The id up to which everything was read or passed over.
    public internal(set) var lastID: UInt64

    mutating func pass(_ id: UInt64) {
      index += 1
      offset = 0
      lastID = id
    }
  }

  /// Which entries a reader wants.
  public struct Selection: Sendable, Hashable {
    /// The entry kinds, one bit each.
    public var kinds: UInt64
    /// The topics, ascending, or nil for any; an entry without one (topic 0) is wanted by its kind alone.
    public private(set) var topics: [UInt64]?

    /// Entries of the given kinds, whatever they are about.
    public init(kinds: UInt64 = .max) { self.kinds = kinds }

    /// Entries of the given kinds whose topic is 0 or one of `topics`.
    public init(kinds: UInt64 = .max, topics: some Sequence<UInt64>) {
      self.kinds = kinds
      self.topics = topics.sorted()
    }

    func wants(kind: UInt8, topic: UInt64) -> Bool {
      guard kinds & (1 << UInt64(kind)) != 0 else { return false }
      guard topic != 0, let topics else { return true }
      var low = 0
      var high = topics.count
      while low < high {
        let middle = (low + high) / 2
        if topics[middle] < topic { low = middle + 1 } else { high = middle }
      }
      return low < topics.count && topics[low] == topic
    }
  }

  /// Where a reader stands who knows everything up to an id.
  public enum Position: Sendable, Equatable {
    /// Nothing is missing from here on.
    case at(Cursor)
    /// An entry above the id was evicted already; the oldest id still here is given.
    case tooOld(oldest: UInt64)
    /// The id was never appended.
    case future
  }

  private struct Observers {
    var next: UInt64 = 0
    var registered: [UInt64: @Sendable () -> Void] = [:]
  }

  private let ring: Locked<EventLogRing>
  private let observers = Locked(Observers())

  /// An empty log.
  ///
  /// - Parameters:
  ///   - byteCapacity: Bytes kept, 1 MiB by default.
  ///   - largest: Bytes up to which it takes more memory instead of letting go of an entry; nil for what it has.
  ///   - entryCapacity: Entries kept, 8192 by default.
  ///   - baseID: The id before the first entry: a reader who knows everything up to it has missed nothing.
  public init(
    byteCapacity: Int = 1024 * 1024, growingTo largest: Int? = nil, entryCapacity: Int = 8192, baseID: UInt64 = 0
  ) {
    ring = Locked(
      EventLogRing(byteCapacity: byteCapacity, growingTo: largest, entryCapacity: entryCapacity, baseID: baseID))
  }

  /// Appends one entry and wakes the servers whose streams follow.
  ///
  /// - Parameters:
  ///   - id: Not below the one before; an entry that is not to be replayed carries the id of the one before.
  ///   - kind: Below 64: a bit of the streams' masks.
  ///   - topic: What the entry is about, for readers who choose by that; 0 for all readers of its kind.
  ///   - bytes: The framed bytes. More than the whole log holds are not kept; readers see them as evicted.
  public func append(id: UInt64, kind: UInt8, topic: UInt64 = 0, bytes: [UInt8]) {
    ring.withLock { $0.append(id: id, kind: kind, topic: topic, bytes: bytes) }
    wake()
  }

  /// Appends entries, and wakes the servers once for all of them.
  public func append(contentsOf entries: [Entry]) {
    guard !entries.isEmpty else { return }
    ring.withLock { ring in
      for entry in entries { ring.append(id: entry.id, kind: entry.kind, topic: entry.topic, bytes: entry.bytes) }
    }
    wake()
  }

  private func wake() {
    for observer in observers.withLock({ Array($0.registered.values) }) { observer() }
  }

  /// How full it is.
  public var occupancy: Occupancy { ring.withLock { $0.occupancy } }

  /// The place after the newest entry.
  public var end: Cursor { ring.withLock { $0.endCursor } }

  /// The newest id still here, nil when there is none.
  public var newestID: UInt64? { ring.withLock { $0.newestID } }

  /// The oldest id still here, nil when there is none.
  public var oldestID: UInt64? { ring.withLock { $0.oldestID } }

  /// The place of the first entry with a greater id, if every such entry is still here.
  public func cursor(after id: UInt64) -> Position {
    ring.withLock { $0.cursor(after: id) }
  }

  /// Bytes between a cursor and the end, of all kinds; nil when the cursor was lapped.
  public func lag(of cursor: Cursor) -> Int? {
    ring.withLock { $0.lag(of: cursor) }
  }

  /// Moves a cursor over unwanted entries and tells whether a read would bring something.
  public func advance(_ cursor: inout Cursor, _ selection: Selection = Selection()) -> Bool {
    ring.withLock { $0.advance(&cursor, selection) }
  }

  /// Copies wanted entries into a buffer: whole ones where they fit, parts of one that never does.
  public func read(
    _ cursor: inout Cursor, _ selection: Selection = Selection(), into buffer: UnsafeMutableRawBufferPointer
  ) -> Read {
    ring.withLock { ring in unsafe ring.read(&cursor, selection, into: buffer) }
  }

  /// The same, but only entries before a number.
  func read(
    _ cursor: inout Cursor, _ selection: Selection, before limit: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) -> Read {
    ring.withLock { ring in unsafe ring.read(&cursor, selection, before: limit, into: buffer) }
  }

  /// Moves a cursor over bytes that were read with another one; false when they are gone.
  func skip(_ cursor: inout Cursor, _ selection: Selection, count: Int) -> Bool {
    ring.withLock { $0.skip(&cursor, selection, count: count) }
  }

  /// Copies whole entries into a batch until it is full; false when the cursor was lapped.
  func collect(_ cursor: inout Cursor, into batch: inout EventLogBatch) -> Bool {
    ring.withLock { $0.collect(&cursor, into: &batch) }
  }

  /// The newest wanted entries, oldest first, at most `limit`.
  public func entries(_ selection: Selection = Selection(), newest limit: Int) -> [Entry] {
    ring.withLock { $0.entries(selection, newest: limit) }
  }

  /// The first wanted entries after an id, at most `limit`.
  ///
  /// - Returns: the entries, and whether none is missing after the id; otherwise they are the oldest.
  public func entries(
    after id: UInt64, _ selection: Selection = Selection(), first limit: Int
  ) -> (entries: [Entry], isWhole: Bool) {
    ring.withLock { ring in
      guard case .at(let cursor) = ring.cursor(after: id) else {
        return (ring.entries(from: ring.first, selection, first: limit), false)
      }
      return (ring.entries(from: cursor.index, selection, first: limit), true)
    }
  }

  /// Has `observer` called after each append, on the writer's thread; returns a ticket to end that.
  package func register(_ observer: @escaping @Sendable () -> Void) -> UInt64 {
    observers.withLock { observers in
      observers.next += 1
      observers.registered[observers.next] = observer
      return observers.next
    }
  }

  /// Ends what `register` began.
  package func unregister(_ ticket: UInt64) {
    observers.withLock { $0.registered[ticket] = nil }
  }
}
