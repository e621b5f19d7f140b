extension EventLogRing {
  /// Copies the chunks of whole entries of all kinds into a batch until it is full; false if the cursor was lapped.
  func collect(_ cursor: inout EventLog.Cursor, into batch: inout EventLogBatch) -> Bool {
    guard cursor.index >= first else { return false }
    while cursor.index < end {
      let next = entry(cursor.index)
      guard batch.isEmpty || batch.count + next.length <= batch.fill else { break }
      let place = unsafe batch.add(
        .init(index: cursor.index, id: next.id, kind: next.kind, next.labels, start: batch.count, next.length))
      unsafe bytes.copy(next.start, next.length, to: place)
      cursor.pass(next.id)
    }
    return true
  }

  func entries(_ selection: EventLog.Selection, newest limit: Int) -> [EventLog.Entry] {
    var found: [EventLog.Entry] = []
    var number = end
    while number > first, found.count < limit {
      number -= 1
      if let wanted = copy(of: number, selection) { found.append(wanted) }
    }
    return found.reversed()
  }

  /// Returns copies of the first entries from a number on.
  func entries(from start: UInt64, _ selection: EventLog.Selection, first limit: Int) -> [EventLog.Entry] {
    var found: [EventLog.Entry] = []
    var number = start
    while number < end, found.count < limit {
      if let wanted = copy(of: number, selection) { found.append(wanted) }
      number += 1
    }
    return found
  }

  private func copy(of number: UInt64, _ selection: EventLog.Selection) -> EventLog.Entry? {
    let entry = entry(number)
    guard selection.wants(kind: entry.kind, entry.labels) else { return nil }
    let (start, length) = entry.span(.content)
    var content = [UInt8](repeating: 0, count: length)
    unsafe content.withUnsafeMutableBytes { unsafe bytes.copy(start, length, to: $0) }
    return EventLog.Entry(
      id: entry.id, kind: entry.kind, labels: entry.labels, bytes: content, data: entry.data, check: entry.check)
  }

  func check(of id: UInt64) -> UInt32? {
    if id == startID { return startCheck }
    guard id > 0, case .at(let cursor) = cursor(after: id - 1), cursor.index < end else { return nil }
    let found = entry(cursor.index)
    return found.id == id ? found.check : nil
  }
}
