internal import Glibc

/// The memory of an event log: a ring of bytes and a ring of entries that refer to it.
///
/// Not synchronized: the log locks it. Sendable, because no other object refers to its memory.
@safe struct EventLogRing: ~Copyable, @unchecked Sendable {
  /// Grows before an entry is evicted for lack of space.
  private(set) var bytes: ByteRing
  private let entryCapacity: Int
  // Allocated with calloc(3), as the bytes.
  private let table: UnsafeMutablePointer<Entry>
  /// The numbers of the oldest stored entry and of the next entry, counted from the first entry ever appended.
  private(set) var first: UInt64 = 0
  private(set) var end: UInt64 = 0
  /// The id of the last evicted entry, after which every one is stored, and of the last appended entry; the base id before
  /// there is one.
  private(set) var startID: UInt64
  private(set) var lastID: UInt64
  /// The check of the last evicted entry; nil before there is one.
  private(set) var startCheck: UInt32?

  init(byteCapacity: Int, growingTo largest: Int? = nil, entryCapacity: Int, baseID: UInt64) {
    precondition(byteCapacity > 0 && entryCapacity > 0, "an event log needs room")
    guard let table = unsafe calloc(entryCapacity, MemoryLayout<Entry>.stride) else {
      preconditionFailure("no memory for an event log")
    }
    unsafe self.table = table.bindMemory(to: Entry.self, capacity: entryCapacity)
    bytes = ByteRing(capacity: byteCapacity, growingTo: largest)
    self.entryCapacity = entryCapacity
    startID = baseID
    lastID = baseID
  }

  deinit { unsafe free(table) }

  var isEmpty: Bool { first == end }
  var count: Int { Int(end - first) }
  var occupancy: EventLog.Occupancy {
    EventLog.Occupancy(
      entries: count, entryCapacity: entryCapacity, bytes: bytes.count, byteCapacity: bytes.capacity, appended: end)
  }
  var oldestID: UInt64? { isEmpty ? nil : entry(first).id }
  var newestID: UInt64? { isEmpty ? nil : lastID }
  var endCursor: EventLog.Cursor { EventLog.Cursor(index: end, offset: 0, lastID: lastID) }

  mutating func append(_ new: EventLog.Entry) {
    precondition(new.kind <= EventLog.highestKind, "an entry kind is a bit of a 64-bit mask")
    precondition(new.id >= lastID, "ids of an event log never decrease")
    let header = ChunkedCoding.header(of: new.bytes.count)
    let entry = Entry(new, start: bytes.end, header: UInt8(header.count))
    if bytes.count + entry.length > bytes.capacity { bytes.grow(toHold: bytes.count + entry.length) }
    while !isEmpty, count == entryCapacity || bytes.count + entry.length > bytes.capacity { evict() }
    lastID = new.id
    guard entry.length <= bytes.capacity else {
      // The entry never fits. Every reader that waits for it must see it as evicted.
      noteEviction(of: entry)
      end += 1
      first = end
      return
    }
    unsafe table[Int(end % UInt64(entryCapacity))] = entry
    if !new.bytes.isEmpty { for part in [header, new.bytes, ChunkedCoding.lineBreak] { bytes.append(part) } }
    end += 1
  }

  /// Evicts all entries, and counts one that never was, so that also readers of the end see an eviction.
  mutating func restart(baseID id: UInt64) {
    while !isEmpty { evict() }
    (first, end, startID, lastID, startCheck) = (end + 1, end + 1, id, id, nil)
  }

  private mutating func evict() {
    let oldest = entry(first)
    noteEviction(of: oldest)
    bytes.removeBytes(before: oldest.start + UInt64(oldest.length))
    first += 1
  }

  /// Moves the beginning to an entry; the first one with its id has the check.
  private mutating func noteEviction(of entry: Entry) {
    if entry.id != startID { (startID, startCheck) = (entry.id, entry.check) }
  }

  func entry(_ number: UInt64) -> Entry {
    unsafe table[Int(number % UInt64(entryCapacity))]
  }

  func cursor(after id: UInt64) -> EventLog.Position {
    guard id <= lastID else { return .future }
    guard id >= startID else { return .tooOld(oldest: oldestID ?? lastID) }
    // Ids never decrease, so a binary search finds the first entry above `id`.
    var low = first
    var high = end
    while low < high {
      let middle = low + (high - low) / 2
      if entry(middle).id > id { high = middle } else { low = middle + 1 }
    }
    return .at(EventLog.Cursor(index: low, offset: 0, lastID: low == first ? startID : entry(low - 1).id))
  }

  /// The bytes between a cursor and the end; nil if the cursor's entry was evicted.
  func lag(of cursor: EventLog.Cursor) -> Int? {
    guard cursor.index >= first else { return nil }
    guard cursor.index < end else { return 0 }
    // A reader of contents passes over the framing of its entry only with the entry.
    return Int(bytes.end - entry(cursor.index).start) - cursor.offset
  }

  /// Moves a cursor past unselected entries; true if a selected one is left or the cursor's entry was evicted.
  func advance(_ cursor: inout EventLog.Cursor, _ selection: EventLog.Selection, before limit: UInt64 = .max) -> Bool {
    guard cursor.index >= first else { return true }
    while cursor.index < min(end, limit) {
      let next = entry(cursor.index)
      if cursor.offset > 0 || selection.wants(kind: next.kind, next.labels) { return true }
      cursor.pass(next.id)
    }
    return false
  }

  func read(
    _ cursor: inout EventLog.Cursor, _ selection: EventLog.Selection, _ form: Form, before limit: UInt64 = .max,
    into buffer: UnsafeMutableRawBufferPointer
  ) -> EventLog.Read {
    guard cursor.index >= first else { return .lapped }
    var count = 0
    var completed: UInt64?
    while count < buffer.count, advance(&cursor, selection, before: limit) {
      let next = entry(cursor.index)
      let (start, length) = next.span(form)
      let left = length - cursor.offset
      let space = buffer.count - count
      // Whole entries if they fit; an entry larger than the whole buffer is copied in parts.
      if left > space, count > 0 { break }
      let part = min(left, space)
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
      unsafe bytes.copy(start + UInt64(cursor.offset), part, to: rest)
      count += part
      cursor.offset += part
      if cursor.offset == length {
        cursor.pass(next.id)
        completed = next.id
      }
    }
    return count > 0 ? .bytes(count: count, lastID: completed) : .empty
  }

  /// Moves a cursor past bytes of chunks that `read` returned; false if they were evicted.
  func skip(_ cursor: inout EventLog.Cursor, _ selection: EventLog.Selection, count: Int) -> Bool {
    guard cursor.index >= first else { return false }
    var left = count
    while left > 0, advance(&cursor, selection) {
      let next = entry(cursor.index)
      let part = min(left, next.length - cursor.offset)
      cursor.offset += part
      left -= part
      if cursor.offset == next.length { cursor.pass(next.id) }
    }
    return left == 0
  }
}
