import ReachabilityModel
import Testing

@testable import ReachabilityChecks

extension ScheduleStateTests {
  @Test("A restored target is charged to the token that registered it")
  mutating func restoredAccount() throws {
    _ = state.put(try definition("db"), .runtime, by: .token("ci"), at: now)
    _ = state.put(try definition("open"), .runtime, by: .anonymous, at: now)
    var next = ScheduleState(seed: 8, concurrency: 4, perHost: 2)
    let restored = state.entries.values.map(\.report).map { report in
      RestoredTarget(
        definition: report.definition, origin: .runtime, revision: report.revision, changes: 0,
        status: report.status.restorable, token: report.token)
    }
    next.restore(restored, firstRevision: 100, at: now)
    #expect(next.ledger.accounts == state.ledger.accounts)
    #expect(next.ledger.accounts[.token("ci")]?.targets == 1)
    #expect(next.entries["db"]?.report.token == "ci")
    // Another client takes the target over, with another definition.
    _ = next.put(try definition("db") { $0.fall = 9 }, .runtime, by: .token("other"), at: now)
    #expect(next.ledger.accounts[.token("ci")] == nil)
    #expect(next.entries["db"]?.account == .token("other"))
  }

  @Test("A target of the fleet is charged to the fleet until it is removed")
  mutating func fleetAccount() throws {
    _ = state.put(try definition("db"), .fleet, at: now)
    _ = state.put(try definition("db") { $0.fall = 9 }, .fleet, at: now)
    #expect(state.ledger.accounts.mapValues(\.targets) == [.fleet: 1])
    _ = state.remove("db", at: now)
    #expect(state.ledger.accounts.isEmpty)
  }
}
