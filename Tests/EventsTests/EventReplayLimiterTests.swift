import Locks
import Testing

@testable import Events

@Suite final class EventReplayLimiterTests: Sendable {
  private let limiter = EventReplayLimiter()
  private let started = Locked<[Int]>([])

  @discardableResult
  private func admit(
    _ number: Int, of client: String = "a", isConnected: Bool = true
  ) -> EventReplayLimiter.Ticket? {
    // Not the suite: it has the limiter, which has the closures of what waits at the end.
    limiter.admit(client) { [weak self] in
      if isConnected { self?.started.withLock { $0.append(number) } }
      return isConnected
    }
  }

  @Test func replaysWaitInOrder() {
    let tickets = (0..<EventReplayLimiter.limit + 3).map { admit($0) }
    #expect(tickets.prefix(EventReplayLimiter.limit).allSatisfy { $0 == nil })
    #expect(limiter.waiting == 3)
    limiter.release()
    limiter.release()
    #expect(started.withLock(\.self) == Array(0..<EventReplayLimiter.limit + 2))
  }

  @Test func clientsTakeTurns() {
    for number in 0..<EventReplayLimiter.limit + 1_000 { admit(number) }
    admit(-1, of: "b")
    admit(-2, of: "b")
    admit(-3, of: "c")
    started.withLock { $0 = [] }
    for _ in 0..<6 { limiter.release() }
    #expect(started.withLock { $0.filter { $0 < 0 } } == [-1, -3, -2])
  }

  @Test func cancelledReplaysLeaveTheQueue() throws {
    for number in 0..<EventReplayLimiter.limit { _ = admit(number) }
    for number in 100..<10_100 { limiter.cancel(try #require(admit(number))) }
    #expect(limiter.waiting == 0)
    let last = try #require(admit(1))
    limiter.release()
    #expect(limiter.waiting == 0)
    #expect(started.withLock(\.last) == 1)
    limiter.cancel(last)
  }

  @Test func manyDisconnectedReplaysInSequenceArePassedOver() {
    for number in 0..<EventReplayLimiter.limit { _ = admit(number) }
    for number in 0..<200_000 { _ = admit(number, isConnected: false) }
    _ = admit(9)
    limiter.release()
    #expect(limiter.waiting == 0 && started.withLock(\.last) == 9)
    for _ in 0..<EventReplayLimiter.limit { limiter.release() }
    #expect(admit(10) == nil && started.withLock(\.last) == 10)
  }
}
