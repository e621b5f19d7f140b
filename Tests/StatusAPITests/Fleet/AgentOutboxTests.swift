import Locks
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityFleet
import TestSupport
import Testing

@testable import FleetAPI
@testable import StatusAPI

@Suite("AgentOutbox")
struct AgentOutboxTests {
  private static func page(_ outbox: AgentOutbox, after number: UInt64) throws -> FleetOutboxPage {
    let found = Locked<FleetOutboxPage?>(nil)
    outbox.changes(after: number, limit: 10) { result in found.withLock { $0 = try? result.get() } }
    #expect(eventually { found.withLock { $0 != nil } })
    let page = found.withLock { $0 }
    return try #require(page)
  }

  @Test("Events that were deleted before they were published are counted, and the next page begins after them")
  func missing() throws {
    let replica = try ScriptedService(.wired, .init { $0.historyBytes = 4096 })
    let outbox = replica.service.makeAgentOutbox()
    for mtu in UInt32(1400)..<1480 { replica.kernel.change { $0.change("eth0") { $0.mtu = mtu } } }
    #expect(eventually { outbox.end > 60 })
    let page = try Self.page(outbox, after: 0)
    #expect(page.start > 0 && page.start < page.through)
    #expect(outbox.missing == page.start)
    // The chain publishes the number before the next change, and readers see that events are missing.
    let next = try Self.page(outbox, after: page.through)
    #expect(next.start == page.through && outbox.missing == page.start)
  }
}
