/// The event log's memory: a ring of bytes and a ring of entries that point into it.
///
/// Pure; the log locks it.
struct EventLogRing {
  struct Entry {
    var id: UInt64
    var kind: UInt8
    /// Position of the first byte, counted from the first byte ever appended.
    var start: UInt64
    var length: Int
  }

  private var bytes: [UInt8]
  private var table: [Entry]
  /// Numbers of the oldest entry that is still here and of the next one to come, counted from the first ever.
  private(set) var first: UInt64 = 0
  private(set) var end: UInt64 = 0
  /// Positions of the oldest byte that is still here and of the next one to come.
  private var firstByte: UInt64 = 0
  private(set) var endByte: UInt64 = 0
  /// Ids of the last entry that was evicted and of the last that was appended; the base id before there was any.
  private var lastEvictedID: UInt64
  private(set) var lastID: UInt64

  init(byteCapacity: Int, entryCapacity: Int, baseID: UInt64) {
    precondition(byteCapacity > 0 && entryCapacity > 0, "an event log needs room")
    bytes = Array(repeating: 0, count: byteCapacity)
    table = Array(repeating: Entry(id: 0, kind: 0, start: 0, length: 0), count: entryCapacity)
    lastEvictedID = baseID
    lastID = baseID
  }

  var isEmpty: Bool { first == end }
  var occupancy: EventLog.Occupancy {
    EventLog.Occupancy(
      entries: Int(end - first), entryCapacity: table.count, bytes: Int(endByte - firstByte), byteCapacity: bytes.count,
      appended: end)
  }
  var oldestID: UInt64? { isEmpty ? nil : entry(first).id }
  var newestID: UInt64? { isEmpty ? nil : lastID }
  var endCursor: EventLog.Cursor { EventLog.Cursor(index: end, offset: 0, lastID: lastID) }

  mutating func append(id: UInt64, kind: UInt8, bytes new: [UInt8]) {
    precondition(kind < 64, "an entry kind is a bit of a 64-bit mask")
    precondition(id >= lastID, "ids of an event log never decrease")
    while !isEmpty, end - first == UInt64(table.count) || Int(endByte - firstByte) + new.count > bytes.count { evict() }
    lastID = id
    guard new.count <= bytes.count else {
      // It can never be kept; everybody who waits for it has to be told so, as of an evicted entry.
      lastEvictedID = id
      end += 1
      first = end
      return
    }
    table[Int(end % UInt64(table.count))] = Entry(id: id, kind: kind, start: endByte, length: new.count)
    let at = Int(endByte % UInt64(bytes.count))
    let beforeWrap = min(new.count, bytes.count - at)
    bytes.replaceSubrange(at..<at + beforeWrap, with: new[..<beforeWrap])
    bytes.replaceSubrange(0..<new.count - beforeWrap, with: new[beforeWrap...])
    endByte += UInt64(new.count)
    end += 1
  }

  private mutating func evict() {
    let oldest = entry(first)
    lastEvictedID = oldest.id
    firstByte = oldest.start + UInt64(oldest.length)
    first += 1
  }

  private func entry(_ number: UInt64) -> Entry {
    table[Int(number % UInt64(table.count))]
  }

  func cursor(after id: UInt64) -> EventLog.Position {
    guard id <= lastID else { return .future }
    guard id >= lastEvictedID else { return .tooOld(oldest: oldestID ?? lastID) }
    // Ids never decrease: halve the range until the first entry above `id` is left.
    var low = first
    var high = end
    while low < high {
      let middle = low + (high - low) / 2
      if entry(middle).id > id { high = middle } else { low = middle + 1 }
    }
    return .at(EventLog.Cursor(index: low, offset: 0, lastID: low == first ? lastEvictedID : entry(low - 1).id))
  }

  /// Bytes between a cursor and the end; nil when the cursor's entry is gone.
  func lag(of cursor: EventLog.Cursor) -> Int? {
    guard cursor.index >= first else { return nil }
    guard cursor.index < end else { return 0 }
    return Int(endByte - entry(cursor.index).start) - cursor.offset
  }

  /// Moves a cursor over entries nobody wants; true when one is left to read, or the cursor's entry is gone.
  func advance(_ cursor: inout EventLog.Cursor, kinds: UInt64) -> Bool {
    guard cursor.index >= first else { return true }
    while cursor.index < end {
      let next = entry(cursor.index)
      if cursor.offset > 0 || kinds & (1 << UInt64(next.kind)) != 0 { return true }
      cursor.pass(next.id)
    }
    return false
  }

  func read(
    _ cursor: inout EventLog.Cursor, kinds: UInt64, into buffer: UnsafeMutableRawBufferPointer
  ) -> EventLog.Read {
    guard cursor.index >= first else { return .lapped }
    var count = 0
    var completed: UInt64?
    while count < buffer.count, advance(&cursor, kinds: kinds) {
      let next = entry(cursor.index)
      let left = next.length - cursor.offset
      let room = buffer.count - count
      // Whole entries where they fit; one that is bigger than the whole buffer goes in parts.
      if left > room, count > 0 { break }
      let part = min(left, room)
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
      unsafe copy(next.start + UInt64(cursor.offset), part, to: rest)
      count += part
      cursor.offset += part
      if cursor.offset == next.length {
        cursor.pass(next.id)
        completed = next.id
      }
    }
    return count > 0 ? .bytes(count: count, lastID: completed) : .empty
  }

  private func copy(_ position: UInt64, _ count: Int, to buffer: UnsafeMutableRawBufferPointer) {
    let at = Int(position % UInt64(bytes.count))
    let beforeWrap = min(count, bytes.count - at)
    unsafe buffer.copyBytes(from: bytes[at..<at + beforeWrap])
    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[beforeWrap...])
    unsafe rest.copyBytes(from: bytes[..<(count - beforeWrap)])
  }

  func entries(after id: UInt64, kinds: UInt64, newest limit: Int) -> [EventLog.Entry] {
    var found: [EventLog.Entry] = []
    var number = end
    while number > first, found.count < limit {
      number -= 1
      let next = entry(number)
      guard next.id > id else { break }
      guard kinds & (1 << UInt64(next.kind)) != 0 else { continue }
      let at = Int(next.start % UInt64(bytes.count))
      let beforeWrap = min(next.length, bytes.count - at)
      let content = Array(bytes[at..<at + beforeWrap] + bytes[..<(next.length - beforeWrap)])
      found.append(EventLog.Entry(id: next.id, kind: next.kind, bytes: content))
    }
    return found.reversed()
  }
}
