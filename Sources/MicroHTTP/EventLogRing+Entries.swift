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
      let content = unsafe [UInt8](unsafeUninitializedCapacity: next.length) { buffer, count in
        unsafe copy(next.start, next.length, to: UnsafeMutableRawBufferPointer(buffer))
        count = next.length
      }
      found.append(EventLog.Entry(id: next.id, kind: next.kind, bytes: content))
    }
    return found.reversed()
  }
}
