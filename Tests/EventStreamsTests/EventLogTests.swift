import TestSupport
import Testing

@testable import EventStreams

@Suite("EventLog")
struct EventLogTests {
  /// Reads everything a cursor can see.
  private func readAll(
    _ log: EventLog, _ cursor: inout EventLog.Cursor, kinds: UInt64 = .max, buffer size: Int = 64
  ) -> (text: String, last: EventLog.Read) {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: size)
    while true {
      let read = unsafe buffer.withUnsafeMutableBytes { unsafe log.read(&cursor, .init(kinds: kinds), into: $0) }
      guard case .bytes(let count, _) = read else { return (String(decoding: bytes, as: UTF8.self), read) }
      bytes += buffer[..<count]
    }
  }

  /// Reads all chunks that a cursor can see.
  private func readAllChunks(
    _ log: EventLog, _ cursor: inout EventLog.Cursor, kinds: UInt64, buffer size: Int
  ) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: size)
    while case .bytes(let count, _) = unsafe buffer.withUnsafeMutableBytes({
      unsafe log.readChunks(&cursor, .init(kinds: kinds), before: .max, into: $0)
    }) {
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func append(_ log: EventLog, _ id: UInt64, _ text: String, kind: UInt8 = 0) {
    log.append(id: id, kind: kind, bytes: Array(text.utf8))
  }

  @Test("Entries are read once, in order, across the wrap-around")
  func wraps() {
    let log = EventLog(byteCapacity: 10, entryCapacity: 8)
    var cursor = log.end
    for id in 1...50 {
      append(log, UInt64(id), "<\(id)>")
      #expect(readAll(log, &cursor).text == "<\(id)>")
    }
    #expect(readAll(log, &cursor).last == .empty)
    #expect(cursor == log.end)
    #expect(cursor.lastID == 50)
  }

  @Test("The oldest entries are evicted by bytes and by count")
  func evicts() {
    // Four bytes and five of the chunk.
    let byBytes = EventLog(byteCapacity: 20, entryCapacity: 100)
    for id in 1...5 { append(byBytes, UInt64(id), "abcd") }
    #expect(byBytes.oldestID == 4)
    #expect(byBytes.newestID == 5)
    let byNumber = EventLog(byteCapacity: 1000, entryCapacity: 3)
    for id in 1...5 { append(byNumber, UInt64(id), "abcd") }
    #expect(byNumber.oldestID == 3)
  }

  @Test("A reader of an evicted entry is reported as lapped")
  func lapped() {
    let log = EventLog(byteCapacity: 10, entryCapacity: 8)
    var cursor = log.end
    for id in 1...5 { append(log, UInt64(id), "abcd") }
    #expect(readAll(log, &cursor).last == .lapped)
    #expect(log.lag(of: cursor) == nil)
  }

  @Test("cursor(after:) misses no entry or reports a gap")
  func cursorAfter() {
    let log = EventLog(byteCapacity: 1000, entryCapacity: 3, baseID: 10)
    #expect(log.cursor(after: 10) == .at(log.end))
    #expect(log.cursor(after: 11) == .future)
    #expect(log.cursor(after: 9) == .tooOld(oldest: 10))
    for id in 11...14 { append(log, UInt64(id), "<\(id)>") }
    #expect(log.cursor(after: 10) == .tooOld(oldest: 12))
    guard case .at(var cursor) = log.cursor(after: 11) else {
      Issue.record("12 is still here")
      return
    }
    #expect(cursor.lastID == 11)
    #expect(readAll(log, &cursor).text == "<12><13><14>")
    #expect(log.cursor(after: 14) == .at(log.end))
    #expect(log.cursor(after: 15) == .future)
  }

  @Test("Entries with one id are read live and not replayed")
  func sharedIDs() {
    let log = EventLog()
    var live = log.end
    append(log, 1, "a")
    append(log, 1, "b")
    append(log, 2, "c")
    append(log, 2, "d")
    #expect(readAll(log, &live).text == "abcd")
    guard case .at(var cursor) = log.cursor(after: 1) else {
      Issue.record("2 is here")
      return
    }
    #expect(readAll(log, &cursor).text == "cd")
  }

  @Test("Only entries larger than the buffer are split")
  func parts() {
    let log = EventLog()
    append(log, 1, "123456")
    append(log, 2, "0123456789abcdef")
    append(log, 3, "xyz")
    guard case .at(var cursor) = log.cursor(after: 0) else {
      Issue.record("1 is here")
      return
    }
    var buffer = [UInt8](repeating: 0, count: 8)
    var pieces: [String] = []
    while case .bytes(let count, _) = unsafe buffer.withUnsafeMutableBytes({
      unsafe log.read(&cursor, into: $0)
    }) {
      pieces.append(String(decoding: buffer[..<count], as: UTF8.self))
    }
    #expect(pieces == ["123456", "01234567", "89abcdef", "xyz"])
  }

  @Test("An entry larger than the log counts as evicted")
  func tooBig() {
    let log = EventLog(byteCapacity: 8, entryCapacity: 8)
    var cursor = log.end
    append(log, 1, "ab")
    append(log, 2, "123456789")
    #expect(readAll(log, &cursor).last == .lapped)
    #expect(log.cursor(after: 1) == .tooOld(oldest: 2))
    #expect(log.cursor(after: 2) == .at(log.end))
    append(log, 3, "cd")
    #expect(log.entries(newest: 10).map(\.id) == [3])
  }

  @Test("Unselected kinds are skipped and advance the id")
  func kinds() {
    let log = EventLog()
    var cursor = log.end
    append(log, 1, "a", kind: 1)
    append(log, 2, "b", kind: 63)
    append(log, 3, "c", kind: 1)
    #expect(readAll(log, &cursor, kinds: 1 << 63).text == "b")
    #expect(cursor.lastID == 3)
    #expect(!log.advance(&cursor, .init(kinds: 1 << 63)))
    #expect(log.entries(.init(kinds: 1 << 1), newest: 1).map(\.id) == [3])
    #expect(log.entries(after: 1, first: 9).entries.map(\.bytes) == [Array("b".utf8), Array("c".utf8)])
    #expect(log.entries(after: 1, first: 1).entries.map(\.id) == [2])
    #expect(log.entries(after: 3, first: 1) == ([], true))
    #expect(log.entries(after: 4, first: 1).isWhole == false, "of the future")
  }

  @Test("Topic selection includes entries without a topic")
  func topics() {
    let log = EventLog()
    var cursor = log.end
    var none = log.end
    for topic in UInt64(0)...9 {
      log.append(id: 1, kind: 2, labels: .init(topic: topic), bytes: Array("\(topic)".utf8))
    }
    let selection = EventLog.Selection(kinds: 1 << 2, topics: [9, 3, 7])
    var buffer = [UInt8](repeating: 0, count: 64)
    let read = unsafe buffer.withUnsafeMutableBytes { unsafe log.read(&cursor, selection, into: $0) }
    #expect(read == .bytes(count: 4, lastID: 1))
    #expect(String(decoding: buffer[..<4], as: UTF8.self) == "0379")
    #expect(log.entries(selection, newest: 2).map(\.labels.topic) == [7, 9])
    #expect(log.entries(.init(topics: []), newest: 9).map(\.labels.topic) == [0])
    #expect(readAll(log, &none, kinds: 1 << 2).text == "0123456789", "a reader without topics receives all")
    #expect(readAll(log, &none, kinds: 1 << 1).text == "")
  }

  @Test("An entry is selected by all of its labels")
  func labels() {
    let log = EventLog()
    let labels: [EventLog.Labels] = [
      .init(), .init(topic: 1, source: 5, group: 8), .init(topic: 2, source: 5, group: 8),
      .init(topic: 1, source: 6, group: 8), .init(topic: 1, source: 7, group: 9), .init(topic: 1),
    ]
    for (index, label) in labels.enumerated() { log.append(id: UInt64(index), kind: 0, labels: label, bytes: [0]) }
    func ids(_ selection: EventLog.Selection) -> [UInt64] { log.entries(selection, newest: 9).map(\.id) }
    #expect(ids(.init(sources: [5])) == [0, 1, 2, 5])
    #expect(ids(.init(groups: [8])) == [0, 1, 2, 3, 5])
    #expect(ids(.init(topics: [1], sources: [7, 5])) == [0, 1, 4, 5])
    #expect(ids(.init(topics: [2], sources: [5], groups: [9])) == [0])
  }

  @Test("A growing log evicts nothing before its limit")
  func grows() throws {
    let log = EventLog(byteCapacity: 8, growingTo: 80)
    var cursor = log.end
    // The ring's end lies amidst what is moved to the larger one.
    for id in 1...3 { append(log, UInt64(id), "<\(id)>") }
    #expect(readAll(log, &cursor).text == "<1><2><3>")
    append(log, 4, "abcdefghijklmnopqrstuvwxyz")
    append(log, 5, "0123456789")
    #expect(log.occupancy.bytes == 71 && log.occupancy.byteCapacity <= 80)
    #expect(readAll(log, &cursor).text == "abcdefghijklmnopqrstuvwxyz0123456789")
    #expect(log.entries(newest: 9).map(\.id) == [1, 2, 3, 4, 5])
    append(log, 6, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    #expect(log.oldestID == 4 && log.occupancy.byteCapacity == 80)
    append(log, 7, String(repeating: "x", count: 80))
    #expect(readAll(log, &cursor).last == .lapped)
  }

  @Test("A batch holds whole entries and advances by written bytes")
  func batches() {
    let log = EventLog(byteCapacity: 80, entryCapacity: 100)
    var cursor = log.end
    let start = log.end
    for id in 1...9 { append(log, UInt64(id), "<\(id)>", kind: UInt8(id % 2)) }
    var batch = EventLogBatch(fill: 24)
    #expect(log.collect(&cursor, into: &batch))
    #expect(batch.marks.map(\.id) == [1, 2, 3])
    #expect(unsafe String(decoding: batch.bytes, as: UTF8.self) == "3\r\n<1>\r\n3\r\n<2>\r\n3\r\n<3>\r\n")
    batch.clear()
    append(log, 10, "0123456789abcdef")
    cursor = log.end
    append(log, 11, "0123456789abcdef0123456789")
    #expect(log.collect(&cursor, into: &batch))
    #expect(
      unsafe String(decoding: batch.bytes, as: UTF8.self) == "1a\r\n0123456789abcdef0123456789\r\n",
      "more than it was made for")
    var lapped = start
    #expect(!log.collect(&lapped, into: &batch))
    #expect(!log.skipChunks(&lapped, .init(), count: 1))
  }

  @Test("Advancing by bytes equals reading as many", arguments: [UInt64.max, 1, 2])
  func skips(kinds: UInt64) {
    let log = EventLog()
    for id in 1...9 { append(log, UInt64(id), "<\(id)>", kind: UInt8(id % 2)) }
    guard case .at(let start) = log.cursor(after: 0) else { return }
    var whole = start
    let text = readAllChunks(log, &whole, kinds: kinds, buffer: 64)
    #expect(text.hasSuffix(">\r\n"))
    for count in 0...text.utf8.count {
      var cursor = start
      #expect(log.skipChunks(&cursor, .init(kinds: kinds), count: count))
      // Also in parts of chunks, with a buffer that is smaller than one.
      #expect(readAllChunks(log, &cursor, kinds: kinds, buffer: 5).utf8.elementsEqual(text.utf8.dropFirst(count)))
    }
  }

  @Test("The log matches an array under random operations", arguments: 0..<40)
  func model(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let byteCapacity = Int.random(in: 1...60, using: &generator)
    let entryCapacity = Int.random(in: 1...9, using: &generator)
    let log = EventLog(byteCapacity: byteCapacity, entryCapacity: entryCapacity)
    var kept: [EventLog.Entry] = []
    var cursors = [(cursor: log.end, pending: [EventLog.Entry](), isLapped: false)]
    var id: UInt64 = 0
    for step in 0..<400 {
      if Bool.random(using: &generator) {
        id += UInt64.random(in: 0...2, using: &generator)
        let length = Int.random(in: 0...20, using: &generator)
        let entry = EventLog.Entry(
          id: id, kind: UInt8.random(in: 0...2, using: &generator), bytes: (0..<length).map { UInt8(($0 + step) & 255) }
        )
        log.append(id: entry.id, kind: entry.kind, bytes: entry.bytes)
        var evicted = 0
        kept.append(entry)
        func size() -> Int { kept.reduce(0) { $0 + ChunkedCoding.chunk($1.bytes).count } }
        while kept.count > entryCapacity || size() > byteCapacity {
          kept.removeFirst()
          evicted += 1
        }
        for index in cursors.indices {
          cursors[index].pending.append(entry)
          if cursors[index].pending.count > kept.count { cursors[index].isLapped = true }
        }
      } else {
        let index = Int.random(in: 0..<cursors.count, using: &generator)
        let (text, last) = readAll(log, &cursors[index].cursor, buffer: 25)
        if cursors[index].isLapped {
          #expect(last == .lapped)
          cursors[index] = (log.end, [], false)
        } else {
          let expected = String(decoding: cursors[index].pending.flatMap(\.bytes), as: UTF8.self)
          #expect(Array(text.utf8) == Array(expected.utf8))
          cursors[index].pending = []
        }
        if cursors.count < 4 { cursors.append((log.end, [], false)) }
      }
      #expect(log.entries(newest: 100) == kept)
      #expect(log.oldestID == kept.first?.id)
    }
  }

  @Test func theCheckOfTheLastEvictedEntryIsKept() {
    let log = EventLog(entryCapacity: 2)
    log.append(contentsOf: [1, 2, 2, 3].map { EventLog.Entry(id: $0, kind: 0, bytes: [1], check: UInt32($0) * 10) })
    #expect((0...3).map { log.check(of: $0) } == [nil, nil, 20, 30])
  }
}
