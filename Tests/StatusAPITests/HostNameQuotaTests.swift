import Testing

@testable import StatusAPI

@Suite struct HostNameQuotaTests {
  private let start = ContinuousClock.now
  private let quota: HostNameQuota

  init() { quota = HostNameQuota(now: start) }

  private func consume(_ names: Int, _ client: String = "a", after time: Duration = .zero) -> HostNameQuota.Excess? {
    quota.consume(names, client: client, now: start + time)
  }

  @Test func everyNameCounts() {
    #expect(consume(64) == nil)
    #expect(consume(1) == .init(scope: .client, retryAfter: 1))
    #expect(consume(64) == .init(scope: .client, retryAfter: 7))
    #expect(consume(0) == nil)
    #expect(consume(10, after: .seconds(1)) == nil)
    #expect(consume(1, after: .milliseconds(1_050)) == .init(scope: .client, retryAfter: 1))
    #expect(consume(64, "b") == nil, "another client")
  }

  @Test func namesPerSecondOfOneClientAreLimited() {
    // A hundred requests a second for ten seconds, of 64 names each.
    var admitted = 0
    for step in 0..<1_000 where consume(64, after: .milliseconds(10 * step)) == nil { admitted += 64 }
    #expect(admitted <= 64 + 10 * 10 && admitted >= 128)
  }

  @Test func allClientsTogetherAreLimited() {
    var admitted = 0
    for step in 0..<100 {
      for client in 0..<50 where consume(8, "\(client)", after: .milliseconds(100 * step)) == nil { admitted += 8 }
    }
    let ten = Int(10 * (HostNameQuota.namesPerSecondOfAll + HostNameQuota.reservePerSecond))
    #expect(admitted <= Int(HostNameQuota.burstOfAll + HostNameQuota.reserveBurst) + ten)
    #expect(consume(64, "new", after: .seconds(10))?.scope == .all)
  }

  @Test func clientThatLooksUpLittleIsServedBesideOthers() {
    for client in 0..<20 { _ = consume(64, "\(client)") }
    #expect(consume(1, "0")?.scope == .client)
    for second in 1...20 {
      for client in 0..<20 { _ = consume(10, "\(client)", after: .seconds(second)) }
      #expect(consume(1, "quiet", after: .seconds(second)) == nil)
    }
  }

  @Test func countedClientsAreBounded() {
    for client in 0..<(3 * HostNameQuota.clientLimit) {
      _ = consume(1, "\(client)", after: .milliseconds(30 * client))
    }
    #expect(consume(1, "a", after: .seconds(1_000)) == nil)
  }

  @Test func watchedNamesOfAClientAreLimited() {
    let names = (0..<HostNameQuota.watchesOfClient).map { "n\($0)" }
    let first = quota.watch(Set(names), client: "a")
    #expect(first != nil)
    #expect(quota.watch(["other"], client: "a") == nil)
    // Names that the client watches already cause no further lookups.
    var again = quota.watch(Set(names.prefix(64)), client: "a")
    #expect(again != nil && quota.watch(["other"], client: "b") != nil)
    again = nil
    #expect(quota.watch(["other"], client: "a") == nil)
    withExtendedLifetime(first) {}
  }

  @Test func watchesEndWithTheirLease() {
    for _ in 0..<100 {
      let lease = quota.watch(Set((0..<HostNameQuota.watchesOfClient).map { "n\($0)" }), client: "a")
      #expect(lease != nil)
    }
  }

  @Test func watchedNamesOfAllClientsAreLimited() {
    var leases: [HostNameQuota.Lease] = []
    for client in 0..<1_000 {
      guard let lease = quota.watch(Set((0..<64).map { "\(client)-\($0)" }), client: "\(client)") else { break }
      leases.append(lease)
    }
    #expect(leases.count == HostNameQuota.watches / 64)
    #expect(quota.watch(Set((0..<64).map { "\($0)" }), client: "x") == nil)
    leases.removeLast()
    #expect(quota.watch(Set((0..<64).map { "\($0)" }), client: "x") != nil)
  }
}
