public import HeapModule

/// Timers by identifier, the earliest first.
///
/// A binary heap cannot remove an element. The queue leaves superseded and cancelled entries in the heap, recognizes
/// them by the deadline that is current for their identifier, and rebuilds the heap when most of its entries are of no
/// use. An entry whose timer was postponed moves when it comes up, so that postponing a timer again and again adds no
/// entries.
public struct TimerQueue<ID: Hashable & Sendable>: Sendable {
  @usableFromInline struct Entry: Comparable, Sendable {
    @usableFromInline let time: MonotonicInstant
    @usableFromInline let id: ID

    @inlinable init(time: MonotonicInstant, id: ID) {
      self.time = time
      self.id = id
    }

    @inlinable static func == (left: Entry, right: Entry) -> Bool { left.time == right.time }
    @inlinable static func < (left: Entry, right: Entry) -> Bool { left.time < right.time }
  }

  @usableFromInline struct Timer: Sendable {
    @usableFromInline var deadline: MonotonicInstant
    /// The time of its entry in the heap: the deadline, or before.
    @usableFromInline var queued: MonotonicInstant

    @inlinable init(_ deadline: MonotonicInstant, queued: MonotonicInstant? = nil) {
      self.deadline = deadline
      self.queued = queued ?? deadline
    }
  }

  @usableFromInline var heap = Heap<Entry>()
  @usableFromInline var timers: [ID: Timer] = [:]

  /// Makes an empty queue.
  public init() {}

  /// The number of timers.
  public var count: Int { timers.count }

  /// The number of entries in the heap, those of no use included.
  var entries: Int { heap.count }

  /// Sets the timer of `id`, which replaces an earlier setting.
  @inlinable public mutating func set(_ id: ID, at deadline: MonotonicInstant) {
    if let timer = timers[id], timer.queued <= deadline {
      timers[id] = Timer(deadline, queued: timer.queued)
    } else {
      timers[id] = Timer(deadline)
      heap.insert(Entry(time: deadline, id: id))
      if isSparse { rebuild() }
    }
  }

  /// Cancels the timer of `id`, if there is one.
  @inlinable public mutating func cancel(_ id: ID) {
    timers[id] = nil
    if isSparse { rebuild() }
  }

  /// The deadline of `id`; nil if no timer is set.
  public func deadline(of id: ID) -> MonotonicInstant? { timers[id]?.deadline }

  /// The earliest deadline; nil if no timer is set.
  @inlinable public var earliest: MonotonicInstant? {
    mutating get {
      discardSuperseded()
      return heap.min?.time
    }
  }

  /// Removes the earliest timer if its deadline has passed.
  ///
  /// - Returns: whose timer it was; nil if no deadline has passed.
  @inlinable public mutating func popExpired(_ now: MonotonicInstant) -> ID? {
    discardSuperseded()
    guard let first = heap.min, first.time <= now else { return nil }
    heap.removeMin()
    timers[first.id] = nil
    return first.id
  }

  /// Makes the first entry that of the earliest timer.
  @inlinable mutating func discardSuperseded() {
    while let first = heap.min {
      guard let timer = timers[first.id], timer.queued == first.time else {
        heap.removeMin()
        continue
      }
      if timer.deadline == first.time { return }
      timers[first.id] = Timer(timer.deadline)
      heap.replaceMin(with: Entry(time: timer.deadline, id: first.id))
    }
  }

  @usableFromInline var isSparse: Bool { heap.count > 2 * timers.count + Limits.supersededTimers }

  @usableFromInline mutating func rebuild() {
    for id in timers.keys { timers[id].map { timers[id] = Timer($0.deadline) } }
    heap = Heap(timers.map { Entry(time: $0.value.deadline, id: $0.key) })
  }
}
