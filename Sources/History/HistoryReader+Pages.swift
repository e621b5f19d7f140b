public import Database

extension HistoryReader {
  private static let columns = "id, epoch, seq, at, subject, type, old, new, reason, cause, flags, run, boottime"

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
    let (range, times) = try range(of: filter)
    guard range.first < range.end else { return HistoryPage() }
    return try filter.subjects.isEmpty
      ? page(of: range, filter, times) : page(of: try candidates(subjects, range, filter), filter, times)
  }

  /// The row numbers that a filter's times and cursor select, and, if the clock was set, what selects rows between them.
  private func range(
    of filter: HistoryFilter
  ) throws(DatabaseError) -> (rows: (first: Int64, end: Int64), times: HistoryTimeFilter?) {
    var (first, end): (Int64, Int64) = (1, .max)
    var times: HistoryTimeFilter?
    if filter.since != .min || filter.until != .max {
      let timeline = try timeline(since: filter.since == .min ? filter.until : filter.since)
      if filter.since != .min { first = try firstEntry(at: filter.since, timeline) }
      if filter.until != .max { end = try firstEntry(at: filter.until, timeline) }
      let selection = TimeSelection(from: filter.since, until: filter.until, now: now)
      if let set = try rows(of: selection, timeline) {
        (first, end) = (min(first, set.rows.lowerBound), max(end, set.rows.upperBound))
        times = HistoryTimeFilter(selection: selection, shifts: set.shifts)
      }
    }
    if let cursor = filter.cursor {
      if filter.isDescending { end = min(end, cursor) } else { first = max(first, cursor == .max ? .max : cursor + 1) }
    }
    return ((first, end), times)
  }

  /// The rows that are selected by another time than that of the time line, in the stretches that have several; nil
  /// without such a stretch.
  private func rows(
    of selection: TimeSelection, _ timeline: UptimeTimeline
  ) throws(DatabaseError) -> (rows: Range<Int64>, shifts: ClockShifts)? {
    let stretches = try ClockStretch.newest(since: try reach(of: selection), now: now, in: connection)
    let shifts = ClockShifts(stretches, timeline)
    let highest = try connection.query(Self.bounds(of: "id", in: "transition")) { $0.integer(1) }.first ?? 0
    var found: Range<Int64>?
    for stretch in stretches {
      let values = shifts.shifts(of: stretch.run, own: stretch.wall)
      let rows = stretch.transitions.clamped(to: 1..<max(1, highest) + 1)
      guard values.count > 1, !rows.isEmpty else { continue }
      for shift in values {
        let from = selection.from == .min ? Int64.min : selection.from &- shift
        let until = selection.until == .max ? Int64.max : selection.until &- shift
        let first = try firstEntry(in: rows) { _, boottime in boottime < from }
        let end = try firstEntry(in: rows) { _, boottime in boottime < until }
        // Empty ones, too: that of the time line may have rows that no time selects.
        let known = found ?? first..<first
        if first < end { found = min(known.lowerBound, first)..<max(known.upperBound, end) } else { found = known }
      }
    }
    return found.map { ($0, shifts) }
  }

  /// All subjects: one scan of the table.
  private func page(
    of range: (first: Int64, end: Int64), _ filter: HistoryFilter, _ times: HistoryTimeFilter?
  ) throws(DatabaseError) -> HistoryPage {
    let order = filter.isDescending ? "DESC" : "ASC"
    var builder = HistoryPageBuilder(filter, times)
    try connection.forEach(
      """
      SELECT \(Self.columns) FROM transition WHERE id >= ? AND id < ? ORDER BY id \(order) LIMIT \(Limits.scannedRows + 1)
      """, [.integer(range.first), .integer(range.end)]
    ) { row in builder.take(row) }
    return try finish(builder)
  }

  /// Some subjects: the numbers of their rows from the index, then these rows.
  private func page(
    of candidates: Candidates, _ filter: HistoryFilter, _ times: HistoryTimeFilter?
  ) throws(DatabaseError) -> HistoryPage {
    var builder = HistoryPageBuilder(filter, times)
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
  private func finish(_ builder: HistoryPageBuilder) throws(DatabaseError) -> HistoryPage {
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
