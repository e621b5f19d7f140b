internal import DequeModule
internal import EventLoop

/// The events that wait for their commit, and how far events are visible: a pure state machine.
///
/// Times are nanoseconds of CLOCK_MONOTONIC.
struct PendingRecords {
  struct Waiting {
    var record: EventRecord
    var since: Int64
    /// The clocks when it was handed over; nil if they are not to be compared.
    var clocks: StoreTime?
  }

  /// What one transaction commits.
  struct Group {
    var records: [Waiting] = []
    /// The numbers of events that were not kept; committed before the records.
    var hole: ClosedRange<UInt64>?
    /// The last states of subjects whose events were not kept.
    var states: [String: EventRecord] = [:]
    var writes: [PendingWrite] = []

    var cost: Int { records.reduce(0) { $0 + $1.record.cost } }
  }

  /// The limits, which tests make smaller.
  var stall = Limits.stall.nanoseconds
  var byteLimit = Limits.pendingBytes

  private(set) var state = StoreState.keeping
  private var waiting: Deque<Waiting> = []
  private var writes: [PendingWrite] = []
  /// Bytes of waiting events and of those in the present transaction.
  private(set) var bytes = 0
  /// The first event of the present transaction began to wait then; nil without a transaction.
  private var inTransactionSince: Int64?
  private var hole: ClosedRange<UInt64>?
  private var states: [String: EventRecord] = [:]
  /// The last event that is appended, that is committed, and that is visible.
  private(set) var lastAppended: UInt64
  private(set) var lastCommitted: UInt64
  private(set) var lastVisible: UInt64
  /// Events that were not kept since the start.
  private(set) var unkept: UInt64 = 0
  /// Whether the thread that writes may be blocked by the disk.
  var isOnDisk = false
  private(set) var isClosed = false

  init(last: UInt64) {
    lastAppended = last
    lastCommitted = last
    lastVisible = last
  }

  var isDetached: Bool { if case .detached = state { true } else { false } }
  var hasWork: Bool { !waiting.isEmpty || !writes.isEmpty || hole != nil }
  var waitingEvents: Int { Int(lastAppended - lastCommitted) }

  /// Adds events, in the order of their numbers.
  ///
  /// - Returns: whether they are visible immediately, whether the queue was empty, and whether the stall timer must be
  ///   set, because the thread that writes may be blocked without a transaction.
  mutating func append(
    _ records: [EventRecord], at now: Int64, _ clocks: StoreTime? = nil
  ) -> (isVisible: Bool, wasEmpty: Bool, needsTimer: Bool) {
    let wasEmpty = !hasWork
    let needsTimer = isOnDisk && stallDeadline == nil
    guard let last = records.last, !isClosed else { return (true, false, false) }
    for record in records {
      waiting.append(Waiting(record: record, since: now, clocks: clocks))
      bytes += record.cost
    }
    lastAppended = last.sequence
    drop()
    if isDetached { lastVisible = lastAppended }
    return (isDetached, wasEmpty, needsTimer)
  }

  /// Adds a statement; false when too many wait.
  mutating func append(_ write: PendingWrite, limit: Int) -> Bool {
    guard !isClosed, writes.count < limit else { return false }
    writes.append(write)
    return true
  }

  /// Takes what the next transaction commits.
  mutating func take(limit: Int) -> Group {
    var group = Group()
    group.hole = hole
    group.states = states
    group.writes = writes
    writes = []
    hole = nil
    states = [:]
    let count = min(limit, waiting.count)
    group.records = Array(waiting.prefix(count))
    waiting.removeFirst(count)
    inTransactionSince = group.records.first?.since
    isOnDisk = true
    return group
  }

  /// The transaction was committed.
  ///
  /// - Returns: whether more events are visible now, and whether the state has changed back to `keeping`.
  mutating func committed(_ group: Group) -> (isAdvanced: Bool, isKeeping: Bool) {
    inTransactionSince = nil
    isOnDisk = false
    bytes -= group.cost
    if let last = group.records.last?.record.sequence ?? group.hole?.upperBound {
      lastCommitted = max(lastCommitted, last)
    }
    let isAdvanced = lastCommitted > lastVisible
    lastVisible = max(lastVisible, lastCommitted)
    guard isDetached, waiting.isEmpty, hole == nil else { return (isAdvanced, false) }
    state = .keeping
    return (isAdvanced, true)
  }

  /// The transaction failed: its events wait again.
  mutating func failed(_ group: Group) {
    inTransactionSince = nil
    isOnDisk = false
    writes = group.writes + writes
    if hole == nil {
      for waiting in group.records.reversed() { self.waiting.prepend(waiting) }
    } else {
      // Later events were dropped meanwhile: these are dropped too, so that the hole stays one range.
      for waiting in group.records.reversed() { forget(waiting.record, isOlder: true) }
    }
    if let old = group.hole { hole = old.lowerBound...(hole?.upperBound ?? old.upperBound) }
    states.merge(group.states) { newer, older in newer.following(older) }
    drop()
  }

  /// Makes all events visible, because the disk delays or refuses them.
  ///
  /// - Returns: whether the state has changed.
  mutating func detach(_ reason: String, time: Int64) -> Bool {
    lastVisible = lastAppended
    guard state == .keeping else { return false }
    state = .detached(reason: reason, since: time)
    return true
  }

  /// When the oldest waiting event has waited too long; nil when no event waits, or when waiting delays no event.
  var stallDeadline: Int64? {
    guard state == .keeping else { return nil }
    return (inTransactionSince ?? waiting.first?.since).map { $0 + stall }
  }

  /// Refuses everything from now on.
  ///
  /// - Returns: the statements that will not be executed.
  mutating func close() -> [PendingWrite] {
    isClosed = true
    state = .closed
    lastVisible = lastAppended
    defer { writes = [] }
    return writes
  }

  /// Drops the oldest events while they need too much memory.
  private mutating func drop() {
    while bytes > byteLimit, let oldest = waiting.popFirst() { forget(oldest.record) }
  }

  private mutating func forget(_ record: EventRecord, isOlder: Bool = false) {
    bytes -= record.cost
    unkept += 1
    let number = record.sequence
    hole = min(hole?.lowerBound ?? number, number)...max(hole?.upperBound ?? number, number)
    guard record.state != nil || record.target != nil else { return }
    let other = states[record.subject]
    let (older, newer) = isOlder ? (record.withoutBody, other) : (other, record.withoutBody)
    states[record.subject] = newer.map { $0.following(older) } ?? older
  }
}

extension EventRecord {
  /// The record with the effect on stored states of an older one and this one.
  func following(_ older: EventRecord?) -> EventRecord {
    guard let older else { return self }
    var merged = self
    merged.state = state ?? older.state
    merged.target = older.target?.followed(by: target) ?? target
    return merged
  }

  fileprivate var withoutBody: EventRecord {
    var copy = self
    copy.body = []
    return copy
  }
}
