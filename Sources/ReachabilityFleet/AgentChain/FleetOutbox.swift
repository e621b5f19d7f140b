/// The changes that wait for the engine, collapsed when they are too many: the last one of each target is kept.
///
/// A store fills it with the events after the acknowledged number, and again when a page before ``start`` is requested:
/// the engine has lost acknowledged events then.
public struct FleetOutbox: Sendable {
  /// The number after which it contains everything.
  public private(set) var start: UInt64
  /// The number up to which it contains everything.
  public private(set) var through: UInt64
  /// The changes, ascending, from ``head`` on.
  private var changes: [FleetCellChange] = []
  private var head = 0
  /// The estimated bytes of the changes.
  public private(set) var bytes = 0
  /// The changes up to this number were read, and may be in the stream: they are not collapsed.
  private var offered: UInt64
  private var limits: (events: Int, bytes: Int)
  private let bounds: (events: Int, bytes: Int)

  /// Creates an empty outbox.
  ///
  /// - Parameters:
  ///   - number: the number of the last event before the first that is appended.
  ///   - events: the number of changes above which it is collapsed.
  ///   - bytes: their bytes above which it is collapsed.
  public init(
    after number: UInt64, events: Int = FleetLimits.outboxEvents, bytes: Int = FleetLimits.outboxBytes
  ) {
    start = number
    through = number
    offered = number
    bounds = (events, bytes)
    limits = bounds
  }

  /// How many changes wait.
  public var count: Int { changes.count - head }

  /// Adds the next change of the store.
  public mutating func append(_ change: FleetCellChange) {
    guard change.number > through else { return }
    changes.append(change)
    bytes += change.cost
    through = change.number
    if count > limits.events || bytes > limits.bytes { collapse() }
  }

  /// Has the outbox include events up to a number that are not of fleet targets.
  public mutating func advance(through number: UInt64) { through = max(through, number) }

  /// Reads changes after a number.
  ///
  /// - Parameters:
  ///   - number: the number of the last event that the stream has.
  ///   - limit: how many.
  /// - Returns: the page; it begins later than requested when ``discard(through:)`` has removed events.
  public mutating func page(after number: UInt64, limit: Int) -> FleetOutboxPage {
    let first = index(after: number)
    let end = min(first + max(limit, 1), changes.count)
    let isEnd = end == changes.count
    let page = FleetOutboxPage(
      start: max(number, start), changes: Array(changes[first..<end]),
      through: isEnd ? max(through, number) : changes[end - 1].number, last: through)
    offered = max(offered, page.changes.last?.number ?? 0)
    return page
  }

  /// Removes the changes up to a number, which the stream has.
  public mutating func discard(through number: UInt64) {
    let end = index(after: number)
    for change in changes[head..<end] { bytes -= change.cost }
    head = end
    start = max(start, min(number, through))
    if head > changes.count / 2 {
      changes.removeFirst(head)
      head = 0
    }
    if count <= bounds.events / 2, bytes <= bounds.bytes / 2 { limits = bounds }
  }

  /// The index of the first change after a number.
  private func index(after number: UInt64) -> Int {
    var low = head
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].number <= number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func collapse() {
    let fixed = index(after: offered)
    var kept: [FleetCellChange] = []
    var index: [String: Int] = [:]
    // From the end: the first that is found of a target is its last one.
    for change in changes[fixed...].reversed() {
      if let place = index[change.target] {
        kept[place].skipped += change.skipped + 1
        kept[place].old = change.old
      } else {
        index[change.target] = kept.count
        kept.append(change)
      }
    }
    changes = Array(changes[head..<fixed]) + kept.reversed()
    head = 0
    bytes = changes.reduce(0) { $0 + $1.cost }
    // With very many targets, the next collapse must wait for enough changes to be worth its time.
    limits.events = max(bounds.events, count + bounds.events / 8)
    limits.bytes = max(bounds.bytes, bytes + bounds.bytes / 8)
  }
}

extension FleetCellChange {
  /// The estimated bytes of the change in a message and in memory.
  var cost: Int { 160 + target.utf8.count }
}
