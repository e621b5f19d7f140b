import Testing

@testable import HostResolver

@Suite struct ResolverAddressCacheTests {
  private let start = ContinuousClock.now

  private func address(_ last: UInt8, life: Duration?) -> ResolvedAddress {
    ResolvedAddress(bytes: [192, 0, 2, last], timeToLive: life)
  }

  /// For how long an answer with this time to live is remembered, in whole seconds.
  private func kept(_ addresses: ResolvedAddresses, _ configuration: ResolverConfiguration = .init()) -> Int? {
    var cache = ResolverAddressCache(configuration)
    cache.store("a", addresses, now: start)
    return (0...1_000).first { cache.lookup("a", now: start + .seconds($0)) == nil }
  }

  @Test func timesToLiveAreClamped() {
    #expect(kept([address(1, life: .zero)]) == 1)
    #expect(kept([address(1, life: .seconds(60))]) == 60)
    #expect(kept([address(1, life: .seconds(86_400))]) == 300)
    #expect(kept([address(1, life: .seconds(60)), address(2, life: .seconds(20))]) == 20)
  }

  @Test func missingNamesAreKeptForAShortWhile() {
    #expect(kept([]) == 5)
    #expect(kept([], .init(negativeTimeToLive: .zero)) == 1)
    #expect(kept([], .init(negativeTimeToLive: .seconds(900))) == 30)
  }

  @Test func timesToLiveAge() {
    var cache = ResolverAddressCache(.init())
    cache.store("a", [address(1, life: .seconds(60)), address(2, life: .zero)], now: start)
    cache.store("b", [address(1, life: .seconds(60))], now: start)
    let half = start + .milliseconds(500)
    #expect(
      cache.lookup("a", now: half) == .success([address(1, life: .milliseconds(59_500)), address(2, life: .zero)]))
    #expect(cache.lookup("b", now: start + .seconds(59)) == .success([address(1, life: .seconds(1))]))
  }

  @Test func fullOfLivingAnswersTheShortestLivedGoes() {
    var cache = ResolverAddressCache(.init(cacheEntries: 3))
    for (name, life) in [("a", 60), ("b", 30), ("c", 90), ("d", 10)] {
      cache.store(name, [address(1, life: .seconds(life))], now: start)
    }
    #expect(cache.count == 3)
    #expect(cache.lookup("b", now: start) == nil)
    // Now "d" has expired, and nothing else is evicted.
    cache.store("e", [address(1, life: .seconds(60))], now: start + .seconds(15))
    #expect(["a", "c", "e"].allSatisfy { cache.lookup($0, now: start + .seconds(15)) != nil })
  }

  @Test func nothingIsRememberedWithoutRoom() {
    #expect(kept([address(1, life: .seconds(60))], .init(cacheEntries: 0)) == 0)
    #expect(kept([address(1, life: .seconds(60))], .init(cacheEntries: -1)) == 0)
  }
}
