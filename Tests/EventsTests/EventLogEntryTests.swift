import EventStreams
import Testing

@Suite struct EventLogEntryTests {
  @Test("An entry has its data and its check until it is evicted")
  func dataAndChecks() {
    let log = EventLog(entryCapacity: 2, baseID: 3)
    #expect(log.startID == 3 && log.check(of: 3) == nil && log.check(of: 4) == nil && log.check(of: 0) == nil)
    let frame = Array("id: 1\ndata: {}\n\n".utf8)
    for id in 4...6 as ClosedRange<UInt64> {
      log.append(contentsOf: [.init(id: id, kind: 0, bytes: frame, data: 12..<14, check: UInt32(id) * 7)])
    }
    #expect(log.startID == 4)
    #expect([3, 4, 5, 6, 7, .max].map { log.check(of: $0) } == [nil, 28, 35, 42, nil, nil])
    #expect(log.entries(newest: 9).map { $0.bytes[$0.data] } == [Array("{}".utf8)[...], Array("{}".utf8)[...]])
    log.restart(baseID: 2)
    #expect(log.startID == 2 && log.check(of: 5) == nil)
    log.append(id: 9, kind: 0, bytes: [1])
    #expect(log.check(of: 9) == 0 && log.check(of: 8) == nil && log.entries(newest: 1).map(\.data) == [0..<1])
  }
}
