/// Entries copied out of a log in one step, in order and back to back: many readers send them without the log's lock.
///
/// The memory is reused for the next batch.
@safe struct EventLogBatch: ~Copyable {
  struct Mark {
    let index: UInt64
    let id: UInt64
    let kind: UInt8
    let labels: EventLog.Labels
    /// Offset of the first byte in the batch.
    let start: Int
    let length: Int

    init(index: UInt64, id: UInt64, kind: UInt8, _ labels: EventLog.Labels, start: Int, _ length: Int) {
      self.index = index
      self.id = id
      self.kind = kind
      self.labels = labels
      self.start = start
      self.length = length
    }
  }

  /// The size in bytes from which no further entry is added.
  let fill: Int
  private(set) var marks: [Mark] = []
  private(set) var count = 0
  private var memory: UnsafeMutableRawBufferPointer

  init(fill: Int) {
    self.fill = fill
    unsafe memory = .allocate(byteCount: fill, alignment: 16)
  }

  deinit { unsafe memory.deallocate() }

  var isEmpty: Bool { marks.isEmpty }

  /// The bytes, valid until the batch changes.
  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: memory[..<count]) }

  /// Removes the entries and keeps the memory.
  mutating func clear() {
    marks.removeAll(keepingCapacity: true)
    count = 0
  }

  /// Reserves space for an entry after the others; returns the offset of its bytes.
  mutating func add(_ mark: Mark) -> UnsafeMutableRawBufferPointer {
    let end = count + mark.length
    if unsafe end > memory.count {
      let wider = UnsafeMutableRawBufferPointer.allocate(byteCount: end * 2, alignment: 16)
      unsafe wider.copyMemory(from: bytes)
      unsafe memory.deallocate()
      unsafe memory = wider
    }
    marks.append(mark)
    defer { count = end }
    return unsafe UnsafeMutableRawBufferPointer(rebasing: memory[count..<end])
  }
}
