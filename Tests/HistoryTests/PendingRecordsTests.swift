import Testing

@testable import History

@Suite("PendingRecords")
struct PendingRecordsTests {
  private let millisecond: Int64 = 1_000_000

  @Test("Events are visible after their commit, in groups")
  func commit() {
    var pending = PendingRecords(last: 4)
    let first = pending.append([event(5), event(6)], at: 0)
    #expect(first == (false, true, false))
    let group = pending.take(limit: 10)
    #expect(group.records.map(\.record.sequence) == [5, 6])
    let second = pending.append([event(7)], at: 1)
    #expect(second == (false, true, false))
    let result = pending.committed(group)
    #expect(result == (true, false))
    #expect(pending.lastVisible == 6)
    #expect(pending.waitingEvents == 1)
  }

  @Test("The oldest event decides when the disk has delayed one too long")
  func stall() {
    var pending = PendingRecords(last: 0)
    #expect(pending.stallDeadline == nil)
    _ = pending.append([event(1)], at: 5 * millisecond)
    let group = pending.take(limit: 10)
    _ = pending.append([event(2)], at: 40 * millisecond)
    #expect(pending.stallDeadline == 55 * millisecond)
    let hasChanged = pending.detach("slow", time: 9)
    #expect(hasChanged)
    #expect(pending.lastVisible == 2)
    #expect(pending.stallDeadline == nil)
    // From here on nothing waits.
    let third = pending.append([event(3)], at: 60 * millisecond)
    #expect(third.isVisible)
    #expect(pending.lastVisible == 3)
    let early = pending.committed(group)
    #expect(early == (false, false), "events still wait for their commit")
    let rest = pending.take(limit: 10)
    let late = pending.committed(rest)
    #expect(late == (false, true))
    #expect(pending.state == .keeping)
  }

  @Test("A blocked thread without a transaction needs the timer for the next event")
  func blockedCheckpoint() {
    var pending = PendingRecords(last: 0)
    pending.isOnDisk = true
    let first = pending.append([event(1)], at: 0)
    #expect(first == (false, true, true))
    let second = pending.append([event(2)], at: 1)
    #expect(second == (false, false, false))
  }

  @Test("A failed transaction keeps its events in order")
  func failure() {
    var pending = PendingRecords(last: 0)
    _ = pending.append([event(1), event(2)], at: 0)
    let group = pending.take(limit: 1)
    _ = pending.append([event(3)], at: 0)
    pending.failed(group)
    let records = pending.take(limit: 10).records
    #expect(records.map(\.record.sequence) == [1, 2, 3])
  }

  @Test("Too many events become one hole, and keep the last state of each subject")
  func hole() {
    var pending = PendingRecords(last: 0)
    pending.byteLimit = event(1).cost * 3 + 8
    _ = pending.detach("full", time: 0)
    _ = pending.append([event(1, "a", state: [1]), event(2, "a", state: [2])], at: 0)
    let group = pending.take(limit: 10)
    // The first two are in a transaction; of the others only the newest fit.
    for sequence in 3...6 as ClosedRange<UInt64> { _ = pending.append([event(sequence, "b")], at: 0) }
    pending.failed(group)
    let next = pending.take(limit: 10)
    #expect(next.hole?.lowerBound == 1)
    #expect(next.records.first?.record.sequence == (next.hole?.upperBound ?? 0) + 1)
    #expect(next.records.last?.record.sequence == 6)
    #expect(next.states["a"]?.state == [2])
    #expect(pending.unkept == next.hole.map { $0.upperBound - $0.lowerBound + 1 })
    let result = pending.committed(next)
    #expect(result.isKeeping)
  }

  @Test("A definition that was not kept stays with the later state of its target")
  func definition() {
    let target = TargetRecord(id: "a", definition: "{}", origin: "runtime", revision: 1, state: [1])
    #expect(
      StoredTargetChange.put(target).followed(by: .state([2]))
        == .put(
          TargetRecord(
            id: "a", definition: "{}", origin: "runtime", revision: 1, state: [2])))
    #expect(StoredTargetChange.put(target).followed(by: .remove) == .remove)
    #expect(StoredTargetChange.state([1]).followed(by: nil) == .state([1]))
  }
}
