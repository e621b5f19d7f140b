internal import Glibc

/// The bytes of an event log: a ring that grows up to a limit.
///
/// A position is counted from the first byte ever appended. Not synchronized. Sendable, because no other object refers to
/// its memory.
@safe struct ByteRing: ~Copyable, @unchecked Sendable {
  private(set) var capacity: Int
  /// The bytes up to which the ring grows.
  private let largest: Int
  // Allocated with calloc(3): pages that were never written use no memory, so a large capacity is cheap.
  private var bytes: UnsafeMutableRawPointer
  /// The positions of the oldest stored byte and of the next byte.
  private var start: UInt64 = 0
  private(set) var end: UInt64 = 0

  init(capacity: Int, growingTo largest: Int?) {
    guard let bytes = unsafe calloc(capacity, 1) else { preconditionFailure("no memory for an event log") }
    unsafe self.bytes = bytes
    self.capacity = capacity
    self.largest = max(capacity, largest ?? 0)
  }

  deinit { unsafe free(bytes) }

  var count: Int { Int(end - start) }

  /// Removes the bytes before a position.
  mutating func removeBytes(before position: UInt64) { start = position }

  /// Appends bytes, which must fit.
  mutating func append(_ new: [UInt8]) {
    let at = Int(end % UInt64(capacity))
    let beforeWrap = min(new.count, capacity - at)
    unsafe new.withUnsafeBytes { new in
      guard let base = new.baseAddress else { return }
      unsafe memcpy(bytes + at, base, beforeWrap)
      unsafe memcpy(bytes, base + beforeWrap, new.count - beforeWrap)
    }
    end += UInt64(new.count)
  }

  /// Grows the memory to at least twice the size, if the limit and the system allow it.
  mutating func grow(toHold needed: Int) {
    let wider = min(largest, max(needed, capacity * 2))
    guard wider >= needed, wider > capacity, let space = unsafe calloc(wider, 1) else { return }
    var position = start
    while position < end {
      let (from, to) = (Int(position % UInt64(capacity)), Int(position % UInt64(wider)))
      let part = min(Int(end - position), capacity - from, wider - to)
      unsafe memcpy(space + to, bytes + from, part)
      position += UInt64(part)
    }
    unsafe free(bytes)
    unsafe bytes = unsafe space
    capacity = wider
  }

  /// Copies stored bytes from a position on.
  func copy(_ position: UInt64, _ count: Int, to buffer: UnsafeMutableRawBufferPointer) {
    guard count > 0, let base = buffer.baseAddress else { return }
    let at = Int(position % UInt64(capacity))
    let beforeWrap = min(count, capacity - at)
    unsafe memcpy(base, bytes + at, beforeWrap)
    unsafe memcpy(base + beforeWrap, bytes, count - beforeWrap)
  }
}
