import Testing

@testable import History

@Suite("HistoryRunEnd")
struct HistoryRunEndTests {
  typealias Facts = HistoryRunEnd.Facts

  private func end(
    clean: Bool = false, sameBoot: Bool = true, sameFile: Bool = true,
    lock: Facts.Lock = .ofLastRun(isComplete: true), _ page: Facts.Page?
  ) -> HistoryRunEnd {
    HistoryRunEnd(Facts(isClean: clean, isSameBoot: sameBoot, isSameFile: sameFile, lock: lock, page: page))
  }

  private let present = Facts.Page.ofLastRun(isLossy: false, isComplete: true)

  @Test("Ids continue if nothing can be lost")
  func continues() {
    #expect(end(clean: true, nil) == .clean)
    #expect(end(clean: true, sameBoot: false, nil) == .clean)
    #expect(end(clean: true, present) == .clean)
    #expect(end(clean: true, lock: .ofEarlierRun, nil) == .clean, "the lock file could not be written")
    #expect(end(clean: true, lock: .ofEarlierRun, .ofEarlierRun(isLossy: true)) == .clean)
    #expect(end(clean: true, lock: .unused, nil) == .clean, "0.1.0 ran last")
    #expect(end(present) == .killed)
    #expect(end(lock: .unused, present) == .killed)
    #expect(end(lock: .ofEarlierRun, present) == .killed)
    #expect(end(lock: .ofEarlierRun, .ofEarlierRun(isLossy: false)) == .killed, "killed while it started")
  }

  @Test("Ids do not continue after a loss, or in a database that was restored")
  func begins() {
    let lossy = Facts.Page.ofLastRun(isLossy: true, isComplete: true)
    for end in [
      end(lossy), end(nil), end(.ofEarlierRun(isLossy: false)), end(sameBoot: false, present),
      end(lock: .ofEarlierRun, .ofEarlierRun(isLossy: true)),
      end(clean: true, sameFile: false, nil), end(clean: true, lock: .missing, nil),
      end(clean: true, lock: .ofUnknownRun, nil),
      end(clean: true, lock: .ofLastRun(isComplete: false), nil), end(clean: true, .ofUnknownRun),
      end(clean: true, .ofLastRun(isLossy: false, isComplete: false)),
      end(.ofLastRun(isLossy: false, isComplete: false)),
      end(lock: .missing, present), end(lock: .ofUnknownRun, present),
      end(lock: .ofLastRun(isComplete: false), present),
    ] { #expect(!end.continues, "\(end)") }
  }
}

@Suite("StoreRunMark")
struct StoreRunMarkTests {
  @Test("A mark is read as it was written, and every one has the same length", arguments: [nil, 0, 42, UInt64.max])
  func roundTrip(_ end: UInt64?) throws {
    for run in [1, 815, Limits.highestRun] {
      let mark = StoreRunMark(run: run, token: .max, end: end)
      #expect(StoreRunMark(mark.bytes) == mark)
      #expect(mark.bytes.count == StoreRunMark(run: 1, token: 1).bytes.count)
      #expect(String(decoding: mark.bytes, as: UTF8.self).hasSuffix("\n"))
    }
  }

  @Test("Any other content is no mark")
  func otherContent() {
    let mark = StoreRunMark(run: 7, token: 42, end: 9)
    let text = String(decoding: mark.bytes, as: UTF8.self)
    for count in 0..<20 { #expect(StoreRunMark(Array(mark.bytes.prefix(count))) == nil) }
    for wrong in [
      "", "\n", "7", text.replacing("reachd-run-1", with: "reachd-run-2"), text.replacing(" 7 ", with: " 0 "),
      text.replacing(" 7 ", with: " -7 "), text.replacing(" 2a ", with: " 0 "), text.replacing(" 2a ", with: " x "),
      text.replacing(" 7 ", with: " 9223372036854775807 "), text.replacing(" 9 ", with: " nine "),
    ] { #expect(StoreRunMark(Array(wrong.utf8)) == nil, "\(wrong)") }
    #expect(StoreRunMark([UInt8](repeating: 0xff, count: 128)) == nil)
    #expect(StoreRunMark([UInt8](repeating: 0, count: 128)) == nil)
  }
}
