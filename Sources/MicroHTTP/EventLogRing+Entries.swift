extension EventLogRing {
  /// Whole entries, copied out.
  func entries(after id: UInt64, kinds: UInt64, newest limit: Int) -> [EventLog.Entry] {
    var found: [EventLog.Entry] = []
    var number = end
    while number > first, found.count < limit {
      number -= 1
      let next = entry(number)
      guard next.id > id else { break }
      guard kinds & (1 << UInt64(next.kind)) != 0 else { continue }
      var content = [UInt8](repeating: 0, count: next.length)
      unsafe content.withUnsafeMutableBytes { unsafe copy(next.start, next.length, to: $0) }
      found.append(EventLog.Entry(id: next.id, kind: next.kind, bytes: content))
    }
    return found.reversed()
  }
}
