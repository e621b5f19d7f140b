import ReachabilityModel
import Testing

@testable import ReachabilityFleet

@Suite("FleetOutbox")
struct FleetOutboxTests {
  private func change(_ number: UInt64, _ target: String, old: TargetState = .up) -> FleetCellChange {
    FleetCellChange(number: number, target: target, old: old, cell: nil, time: Timestamp(microseconds: 0))
  }

  @Test("Keeps the last change of each target when it is full, with the number of missing ones")
  func collapse() {
    var outbox = FleetOutbox(after: 0, events: 10)
    for number in 1...10 as ClosedRange<UInt64> { outbox.append(change(number, "t\(number % 3)")) }
    #expect(outbox.count == 10)
    outbox.append(change(11, "t0", old: .down))
    let page = outbox.page(after: 0, limit: 100)
    #expect(page.changes.map(\.number) == [8, 10, 11])
    #expect(page.changes.map(\.skipped) == [2, 3, 3])
    #expect(page.changes.last?.old == .up, "the state before the first of them")
    #expect(page.changes.reduce(0) { $0 + $1.skipped + 1 } == 11)
    #expect(page.through == 11)
  }

  @Test("Does not collapse what was read for a message")
  func offered() {
    var outbox = FleetOutbox(after: 0, events: 10)
    for number in 1...10 as ClosedRange<UInt64> { outbox.append(change(number, "t")) }
    let before = outbox.page(after: 0, limit: 4)
    outbox.append(change(11, "t"))
    #expect(outbox.page(after: 0, limit: 4) == FleetOutboxPage(start: 0, changes: before.changes, through: 4, last: 11))
    #expect(outbox.page(after: 4, limit: 4).changes.map(\.skipped) == [6])
  }

  @Test("Is limited in bytes")
  func bytes() {
    var outbox = FleetOutbox(after: 0, events: 1000, bytes: 5000)
    for number in 1...200 as ClosedRange<UInt64> { outbox.append(change(number, "t\(number % 2)")) }
    #expect(outbox.bytes <= 5000)
    #expect(outbox.page(after: 0, limit: 1000).changes.reduce(0) { $0 + $1.skipped + 1 } == 200)
  }

  @Test("Removes what the stream has, and begins pages after it")
  func discard() {
    var outbox = FleetOutbox(after: 5)
    for number in 6...20 as ClosedRange<UInt64> { outbox.append(change(number, "t\(number)")) }
    outbox.discard(through: 10)
    #expect(outbox.count == 10)
    #expect(
      outbox.page(after: 0, limit: 2)
        == FleetOutboxPage(start: 10, changes: [change(11, "t11"), change(12, "t12")], through: 12, last: 20))
    outbox.advance(through: 30)
    #expect(outbox.page(after: 20, limit: 2) == FleetOutboxPage(start: 20, changes: [], through: 30, last: 30))
    outbox.discard(through: 30)
    #expect(outbox.count == 0 && outbox.bytes == 0)
  }
}
