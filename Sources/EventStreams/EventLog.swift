internal import Locks

/// A bounded log of events with one writer at a time and any number of readers, each with a cursor of its own.
///
/// An append never waits for a reader: it evicts the oldest entries, and a reader that was too slow gets
/// ``Read/lapped``. After each append the log notifies the servers of its streams.
public final class EventLog: Sendable {
  /// A reader's position: the next entry to read.
  public struct Cursor: Sendable, Equatable {
    /// The entry's number, counted from the first entry ever appended.
    var index: UInt64
    /// The number of bytes of the entry, or of its chunk, that were read already.
    package internal(set) var offset: Int
    /// The id up to which every entry was read or skipped.
    public internal(set) var lastID: UInt64

    mutating func pass(_ id: UInt64) {
      index += 1
      offset = 0
      lastID = id
    }
  }

  /// The position of a reader that has received every entry up to an id.
  public enum Position: Sendable, Equatable {
    /// The reader misses no entry from this cursor on.
    case at(Cursor)
    /// An entry above the id was evicted already; `oldest` is the oldest stored id.
    case tooOld(oldest: UInt64)
    /// No entry with this id was appended yet.
    case future
  }

  private struct Observers {
    var next: UInt64 = 0
    var registered: [UInt64: @Sendable () -> Void] = [:]
  }

  private let ring: Locked<EventLogRing>
  private let observers = Locked(Observers())

  /// Makes an empty log.
  ///
  /// - Parameters:
  ///   - byteCapacity: The bytes to keep, 1 MiB by default.
  ///   - largest: The bytes up to which the log grows before it evicts entries; nil for `byteCapacity`.
  ///   - entryCapacity: The entries to keep, 8192 by default.
  ///   - baseID: The id before the first entry; a reader that has received everything up to it misses nothing.
  public init(
    byteCapacity: Int = 1024 * 1024, growingTo largest: Int? = nil, entryCapacity: Int = 8192, baseID: UInt64 = 0
  ) {
    ring = Locked(
      EventLogRing(byteCapacity: byteCapacity, growingTo: largest, entryCapacity: entryCapacity, baseID: baseID))
  }

  /// Appends one entry and notifies the servers whose streams follow the log.
  ///
  /// - Parameters:
  ///   - id: At least the id of the previous entry. An entry that must not be replayed has the id of the previous one.
  ///   - kind: Below 64, because each kind is one bit of a selection.
  ///   - labels: What the entry concerns.
  ///   - bytes: The framed bytes. An entry larger than the log is not stored; readers see it as evicted.
  public func append(id: UInt64, kind: UInt8, labels: Labels = Labels(), bytes: [UInt8]) {
    ring.withLock { $0.append(Entry(id: id, kind: kind, labels: labels, bytes: bytes)) }
    wake()
  }

  /// Appends entries, and notifies the servers once for all of them.
  public func append(contentsOf entries: [Entry]) {
    guard !entries.isEmpty else { return }
    ring.withLock { ring in
      for entry in entries { ring.append(entry) }
    }
    wake()
  }

  /// Evicts all entries, so that every reader sees an eviction; later entries have ids above `id`, which may be lower.
  public func restart(baseID id: UInt64) {
    ring.withLock { $0.restart(baseID: id) }
    wake()
  }

  private func wake() {
    for observer in observers.withLock({ Array($0.registered.values) }) { observer() }
  }

  /// How full the log is.
  public var occupancy: Occupancy { ring.withLock { $0.occupancy } }

  /// The position after the newest entry.
  public var end: Cursor { ring.withLock { $0.endCursor } }

  /// The newest stored id; nil if there is none.
  public var newestID: UInt64? { ring.withLock { $0.newestID } }

  /// The oldest stored id; nil if there is none.
  public var oldestID: UInt64? { ring.withLock { $0.oldestID } }

  /// The id after which every entry is still stored.
  public var startID: UInt64 { ring.withLock { $0.startID } }

  /// The check of the first stored entry with an id, or of the last evicted one; nil if there is none.
  public func check(of id: UInt64) -> UInt32? {
    ring.withLock { $0.check(of: id) }
  }

  /// The position of the first entry with a greater id, if every such entry is still stored.
  public func cursor(after id: UInt64) -> Position {
    ring.withLock { $0.cursor(after: id) }
  }

  /// The bytes of all kinds between a cursor and the end; nil if the cursor was lapped.
  public func lag(of cursor: Cursor) -> Int? {
    ring.withLock { $0.lag(of: cursor) }
  }

  /// Moves a cursor past entries that are not selected, and returns whether a read would return something.
  public func advance(_ cursor: inout Cursor, _ selection: Selection = Selection()) -> Bool {
    ring.withLock { $0.advance(&cursor, selection) }
  }

  /// Copies selected entries into a buffer: whole entries if they fit, and parts of an entry larger than the buffer.
  public func read(
    _ cursor: inout Cursor, _ selection: Selection = Selection(), into buffer: UnsafeMutableRawBufferPointer
  ) -> Read {
    ring.withLock { ring in unsafe ring.read(&cursor, selection, .content, into: buffer) }
  }

  /// Copies the chunks of selected entries before an entry number: whole ones if they fit, and parts of a larger one.
  func readChunks(
    _ cursor: inout Cursor, _ selection: Selection, before limit: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) -> Read {
    ring.withLock { ring in unsafe ring.read(&cursor, selection, .chunk, before: limit, into: buffer) }
  }

  /// Moves a cursor past bytes of chunks that were read with another cursor; false if they were evicted.
  func skipChunks(_ cursor: inout Cursor, _ selection: Selection, count: Int) -> Bool {
    ring.withLock { $0.skip(&cursor, selection, count: count) }
  }

  /// Copies the chunks of whole entries into a batch until it is full; false if the cursor was lapped.
  func collect(_ cursor: inout Cursor, into batch: inout EventLogBatch) -> Bool {
    ring.withLock { $0.collect(&cursor, into: &batch) }
  }

  /// Returns the newest selected entries, at most `limit`, oldest first.
  public func entries(_ selection: Selection = Selection(), newest limit: Int) -> [Entry] {
    ring.withLock { $0.entries(selection, newest: limit) }
  }

  /// Returns the first selected entries after an id, at most `limit`.
  ///
  /// - Returns: the entries, and whether the log still has every entry after the id; if not, they are the oldest ones.
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

  /// Registers `observer` for a call after each append, on the writer's thread; returns a ticket to unregister it.
  package func register(_ observer: @escaping @Sendable () -> Void) -> UInt64 {
    observers.withLock { observers in
      observers.next += 1
      observers.registered[observers.next] = observer
      return observers.next
    }
  }

  /// Removes an observer by the ticket that `register` returned.
  package func unregister(_ ticket: UInt64) {
    observers.withLock { $0.registered[ticket] = nil }
  }
}
