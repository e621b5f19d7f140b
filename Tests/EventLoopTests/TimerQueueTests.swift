import Testing

@testable import EventLoop

@Suite struct TimerQueueTests {
  private func at(_ nanoseconds: Int) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(nanoseconds)) }

  private func drain(_ queue: inout TimerQueue<Int>, _ now: MonotonicInstant) -> [Int] {
    var expired: [Int] = []
    while let id = queue.popExpired(now) { expired.append(id) }
    return expired
  }

  @Test func timersExpireInTheOrderOfTheirDeadlines() {
    var queue = TimerQueue<Int>()
    for (id, time) in [(1, 30), (2, 10), (3, 20)] { queue.set(id, at: at(time)) }
    var earliest = queue.earliest
    #expect(earliest == at(10))
    #expect(drain(&queue, at(9)) == [])
    #expect(drain(&queue, at(20)) == [2, 3])
    earliest = queue.earliest
    #expect(earliest == at(30) && queue.count == 1)
    #expect(drain(&queue, at(31)) == [1])
    earliest = queue.earliest
    #expect(earliest == nil && queue.count == 0)
  }

  @Test func aCancelledTimerDoesNotExpire() {
    var queue = TimerQueue<Int>()
    queue.set(1, at: at(10))
    queue.set(2, at: at(20))
    queue.cancel(1)
    queue.cancel(99)
    let earliest = queue.earliest
    #expect(earliest == at(20))
    #expect(drain(&queue, at(100)) == [2])
  }

  @Test func theLastSettingCounts() {
    var queue = TimerQueue<Int>()
    queue.set(1, at: at(50))
    queue.set(1, at: at(10))
    queue.set(1, at: at(70))
    queue.set(2, at: at(60))
    #expect(queue.deadline(of: 1) == at(70))
    #expect(drain(&queue, at(60)) == [2])
    #expect(drain(&queue, at(70)) == [1])
    #expect(drain(&queue, at(100)) == [], "a timer expires once, however often it was set")
  }

  @Test func aCancelledTimerCanBeSetAgain() {
    var queue = TimerQueue<Int>()
    queue.set(1, at: at(10))
    queue.cancel(1)
    queue.set(1, at: at(10))
    #expect(drain(&queue, at(10)) == [1])
    queue.set(1, at: at(10))
    #expect(drain(&queue, at(10)) == [1])
    #expect(drain(&queue, at(10)) == [])
  }

  @Test func postponingAddsNoEntries() {
    var queue = TimerQueue<Int>()
    for time in 0..<100_000 { queue.set(1, at: at(time)) }
    #expect(queue.entries == 1)
    let earliest = queue.earliest
    #expect(earliest == at(99_999))
  }

  @Test func entriesOfNoUseAreBounded() {
    var queue = TimerQueue<Int>()
    for id in 0..<50_000 {
      queue.set(id, at: at(1_000 + id))
      if id >= 10 { queue.cancel(id) }
      #expect(queue.entries <= 2 * queue.count + Limits.supersededTimers + 1)
    }
    for time in (0..<50_000).reversed() {
      queue.set(1, at: at(time))
      #expect(queue.entries <= 2 * queue.count + Limits.supersededTimers + 1)
    }
    #expect(drain(&queue, at(1_000_000)) == [1, 0] + Array(2..<10))
  }

  @Test func agreesWithASortedList() {
    var queue = TimerQueue<Int>()
    var model: [Int: MonotonicInstant] = [:]
    var now = 0
    for _ in 0..<50_000 {
      let id = Int.random(in: 0..<200)
      switch Int.random(in: 0..<10) {
      case 0..<6:
        let deadline = at(now + .random(in: 0..<1_000))
        queue.set(id, at: deadline)
        model[id] = deadline
      case 6..<8:
        queue.cancel(id)
        model[id] = nil
      default:
        now += .random(in: 0..<50)
        let expected = model.filter { $0.value <= at(now) }
        let expired = drain(&queue, at(now))
        #expect(expired.map { expected[$0] } == expected.values.sorted().map(Optional.some))
        for id in expired { model[id] = nil }
      }
      let earliest = queue.earliest
      #expect(earliest == model.values.min() && queue.count == model.count)
    }
  }
}
