internal import Database
internal import ReachabilityModel

/// Selects rows by their times.
struct HistoryTimeFilter {
  var selection: TimeSelection
  var shifts: ClockShifts

  func selects(_ row: borrowing DatabaseRow) -> Bool {
    let boottime = row.integer(12)
    return shifts.shifts(of: row.integer(11), own: row.integer(3) &- boottime).contains { shift in
      selection.contains(boottime &+ shift)
    }
  }
}

/// Collects the rows of a page until it is full.
struct HistoryPageBuilder {
  private let filter: HistoryFilter
  /// Nil if all rows are selected.
  private let times: HistoryTimeFilter?
  private(set) var found: [(entry: HistoryEntry, subject: Int64)] = []
  private(set) var next: Int64?
  private var scanned = 0
  private var last: Int64?

  init(_ filter: HistoryFilter, _ times: HistoryTimeFilter?) {
    self.filter = filter
    self.times = times
  }

  var isFull: Bool { next != nil }

  /// No row is left of those that were read, but the table has more.
  mutating func endBeforeMoreRows() { next = next ?? last }

  /// Adds the next row; false when the page is full and there are more rows.
  mutating func take(_ row: borrowing DatabaseRow) -> Bool {
    guard found.count < filter.limit, scanned < Limits.scannedRows else {
      next = last
      return false
    }
    scanned += 1
    last = row.integer(0)
    // A later version may have written other types.
    guard let transition = TransitionRecord(row), filter.selects(transition), times?.selects(row) ?? true else {
      return true
    }
    let entry = HistoryEntry(
      id: row.integer(0), epoch: row.text(1) ?? "", sequence: row.bits(2), time: row.integer(3), subject: "",
      transition: transition)
    found.append((entry, row.integer(4)))
    return true
  }
}

extension TransitionRecord {
  /// The columns from `type` on of a row of the table `transition`; nil for a type or a state of a later version.
  fileprivate init?(_ row: borrowing DatabaseRow) {
    guard let type = EventType(rawValue: UInt8(clamping: row.integer(5))),
      let old = StateCode(rawValue: UInt8(clamping: row.integer(6))),
      let new = StateCode(rawValue: UInt8(clamping: row.integer(7)))
    else { return nil }
    self.init(
      type: type, old: old, new: new,
      reason: row.optionalInteger(8).map { ReasonCode(rawValue: UInt16(clamping: $0)) },
      causes: StoredCauses(rawValue: UInt32(truncatingIfNeeded: row.integer(9))),
      flags: TransitionFlags(rawValue: UInt8(truncatingIfNeeded: row.integer(10))))
  }
}
