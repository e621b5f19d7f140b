internal import Glibc

/// The open streams of one shard: a dense table without references, and the timer wheel of their heartbeats.
///
/// An idle stream uses one slot and no other memory of this process.
@safe struct StreamSlots: ~Copyable {
  struct Slot {
    /// The socket; -1 when the slot is free.
    var descriptor: Int32
    /// Distinguishes this stream from earlier streams in the slot.
    var generation: UInt32
    /// The numbers of the channels that the stream follows, 0 for none.
    var first: Int32
    var second: Int32
    /// The tick in which the client last took bytes.
    var lastWrite: UInt32
    /// The stream has to send bytes that other streams have sent already.
    var isBehind: Bool
    /// The wheel's bucket, -1 for none, and the neighbours in it; `next` is the next free slot if this one is free.
    var bucket: Int16
    var next: Int32
    var previous: Int32
  }

  /// The ticks that the wheel covers; a later heartbeat is scheduled again when its slot expires early.
  static let span: UInt32 = 150
  /// Nanoseconds per tick.
  static let tick: Int64 = 100_000_000

  private(set) var slots: UnsafeMutablePointer<Slot>
  private var capacity: Int
  /// The number of slots that were ever used; the memory above was never written.
  private(set) var used = 0
  private(set) var count = 0
  private var free: Int32 = -1
  private var buckets = [Int32](repeating: -1, count: Int(span) + 1)
  /// The last tick that the wheel has handled.
  private var turned: UInt32 = 0

  init() {
    capacity = 64
    unsafe slots = .allocate(capacity: capacity)
  }

  deinit { unsafe slots.deallocate() }

  subscript(number: Int32) -> Slot {
    get { unsafe slots[Int(number)] }
    set { unsafe slots[Int(number)] = newValue }
  }

  // MARK: - Allocation

  mutating func insert(_ descriptor: Int32, first: Int32, second: Int32, lastWrite: UInt32) -> Int32 {
    let number: Int32
    var generation: UInt32 = 0
    if free >= 0 {
      number = free
      generation = self[number].generation &+ 1
      free = self[number].next
    } else {
      if used == capacity { widen() }
      number = Int32(used)
      used += 1
    }
    self[number] = Slot(
      descriptor: descriptor, generation: generation, first: first, second: second, lastWrite: lastWrite,
      isBehind: false, bucket: -1, next: -1, previous: -1)
    count += 1
    return number
  }

  private mutating func widen() {
    let wider = UnsafeMutablePointer<Slot>.allocate(capacity: capacity * 2)
    unsafe wider.moveInitialize(from: slots, count: used)
    unsafe slots.deallocate()
    unsafe slots = wider
    capacity *= 2
  }

  mutating func remove(_ number: Int32) {
    unplan(number)
    self[number].descriptor = -1
    self[number].isBehind = false
    self[number].next = free
    free = number
    count -= 1
  }

  // MARK: - Timer wheel

  /// Schedules a slot for a tick, or for the end of the wheel if the tick is beyond it.
  mutating func plan(_ number: Int32, _ due: UInt32) {
    unplan(number)
    let tick = min(max(due, turned &+ 1), turned &+ Self.span)
    let bucket = Int(tick % (Self.span + 1))
    self[number].bucket = Int16(bucket)
    self[number].previous = -1
    self[number].next = buckets[bucket]
    if buckets[bucket] >= 0 { self[buckets[bucket]].previous = number }
    buckets[bucket] = number
  }

  private mutating func unplan(_ number: Int32) {
    let slot = self[number]
    guard slot.bucket >= 0 else { return }
    if slot.previous >= 0 { self[slot.previous].next = slot.next } else { buckets[Int(slot.bucket)] = slot.next }
    if slot.next >= 0 { self[slot.next].previous = slot.previous }
    self[number].bucket = -1
  }

  /// Removes and returns the next slot that is due by a tick.
  mutating func takeDue(_ now: UInt32) -> Int32? {
    if now > turned &+ Self.span + 1 { turned = now - Self.span - 1 }
    while turned < now {
      let head = buckets[Int((turned + 1) % (Self.span + 1))]
      if head >= 0 {
        unplan(head)
        return head
      }
      turned += 1
    }
    return nil
  }

  /// The tick in which the next slot is due; nil if none is scheduled.
  var nextTick: UInt32? {
    guard count > 0 else { return nil }
    for tick in turned + 1...turned + Self.span where buckets[Int(tick % (Self.span + 1))] >= 0 { return tick }
    return nil
  }
}
