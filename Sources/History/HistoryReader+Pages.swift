public import Database

extension HistoryReader {
  private static let columns = "id, epoch, seq, at, subject, type, old, new, reason, cause, flags"

  /// Reads a page of the history.
  ///
  /// A page may hold fewer entries than its limit, even none, while there are more: a page examines a limited number of
  /// rows.
  ///
  /// - Throws: SQLite's error.
  public func page(_ filter: HistoryFilter) throws(DatabaseError) -> HistoryPage {
    var subjects: [Int64] = []
    for name in filter.subjects {
      if let subject = try reference(to: name), !subjects.contains(subject) { subjects.append(subject) }
    }
    if subjects.isEmpty, !filter.subjects.isEmpty { return HistoryPage() }
    let range = try range(of: filter)
    guard range.first < range.end else { return HistoryPage() }
    return try filter.subjects.isEmpty
      ? page(of: range, filter) : page(of: try candidates(subjects, range, filter), filter)
  }

  /// The row numbers that a filter's times and cursor select.
  private func range(of filter: HistoryFilter) throws(DatabaseError) -> (first: Int64, end: Int64) {
    var (first, end): (Int64, Int64) = (1, .max)
    if filter.since != .min || filter.until != .max {
      let timeline = try timeline(since: filter.since == .min ? filter.until : filter.since)
      if filter.since != .min { first = try firstEntry(at: filter.since, timeline) }
      if filter.until != .max { end = try firstEntry(at: filter.until, timeline) }
    }
    if let cursor = filter.cursor {
      if filter.isDescending { end = min(end, cursor) } else { first = max(first, cursor == .max ? .max : cursor + 1) }
    }
    return (first, end)
  }

  /// All subjects: one scan of the table.
  private func page(of range: (first: Int64, end: Int64), _ filter: HistoryFilter) throws(DatabaseError) -> HistoryPage
  {
    let order = filter.isDescending ? "DESC" : "ASC"
    var builder = PageBuilder(filter)
    try connection.forEach(
      """
      SELECT \(Self.columns) FROM transition WHERE id >= ? AND id < ? ORDER BY id \(order) LIMIT \(Limits.scannedRows + 1)
      """, [.integer(range.first), .integer(range.end)]
    ) { row in builder.take(row) }
    return try finish(builder)
  }

  /// Some subjects: the numbers of their rows from the index, then these rows.
  private func page(of candidates: Candidates, _ filter: HistoryFilter) throws(DatabaseError) -> HistoryPage {
    var builder = PageBuilder(filter)
    for id in candidates.ids where !builder.isFull {
      try connection.forEach("SELECT \(Self.columns) FROM transition WHERE id = ?", [.integer(id)]) { row in
        builder.take(row)
      }
    }
    if candidates.hasMore { builder.endBeforeMoreRows() }
    return try finish(builder)
  }

  /// Row numbers of some subjects in the order of a page.
  private struct Candidates {
    var ids: [Int64] = []
    /// Whether there are rows after the last of them.
    var hasMore = false
  }

  private func candidates(
    _ subjects: [Int64], _ range: (first: Int64, end: Int64), _ filter: HistoryFilter
  ) throws(DatabaseError) -> Candidates {
    let isAscending = !filter.isDescending
    let isFiltered = filter.types != nil || filter.states != nil
    let each = isFiltered ? max(filter.limit + 1, Limits.scannedRows / subjects.count) : filter.limit + 1
    var found: [Int64] = []
    /// The first of the rows at which a subject's numbers end although it has more rows.
    var bound: Int64?
    for subject in subjects {
      let known = found.count
      try connection.forEach(
        """
        SELECT id FROM transition WHERE subject = ? AND id >= ? AND id < ? ORDER BY id \(isAscending ? "ASC" : "DESC") LIMIT ?
        """, [.integer(subject), .integer(range.first), .integer(range.end), .integer(Int64(each))]
      ) { row in
        found.append(row.integer(0))
        return true
      }
      guard found.count - known == each, let last = found.last else { continue }
      bound = bound.map { isAscending ? min($0, last) : max($0, last) } ?? last
    }
    if let bound { found.removeAll { isAscending ? $0 > bound : $0 < bound } }
    return Candidates(ids: isAscending ? found.sorted() : found.sorted(by: >), hasMore: bound != nil)
  }

  /// Replaces the numbers of subjects by their names.
  private func finish(_ builder: PageBuilder) throws(DatabaseError) -> HistoryPage {
    var page = HistoryPage()
    page.next = builder.next
    var names: [Int64: String] = [:]
    for (entry, subject) in builder.found {
      if names[subject] == nil {
        names[subject] =
          try connection.query("SELECT name FROM subject WHERE ref = ?", .integer(subject)) { $0.text(0) ?? "" }.first
      }
      var entry = entry
      entry.subject = names[subject] ?? ""
      page.entries.append(entry)
    }
    return page
  }
}

/// Collects the rows of a page until it is full.
private struct PageBuilder {
  private let filter: HistoryFilter
  private(set) var found: [(entry: HistoryEntry, subject: Int64)] = []
  private(set) var next: Int64?
  private var scanned = 0
  private var last: Int64?

  init(_ filter: HistoryFilter) { self.filter = filter }

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
    guard let transition = TransitionRecord(row), filter.selects(transition) else { return true }
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
    guard let type = TransitionType(rawValue: UInt8(clamping: row.integer(5))),
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
