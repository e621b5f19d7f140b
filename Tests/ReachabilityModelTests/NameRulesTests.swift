import ReachabilityModel
import Testing

@Suite("Names, before and after they are resolved")
struct NameRulesTests {
  let rules = TargetRulesTests()

  func verdict(
    _ resolution: NameResolution, answer: (RouteQuery) throws -> RouteAnswer
  ) throws -> HostVerdict {
    try rules.verdict(ReachabilityTarget(host: "db.internal"), resolution, answer: answer)
  }

  @Test("E3-3 a name that was not resolved is as reachable as the default path, and says that it is optimistic")
  func pending() throws {
    let target = try ReachabilityTarget(host: "does-not-exist.invalid")
    let asked = TargetRules.queries(for: target, in: try rules.tables()).map(\.destination)
    #expect(asked == StatusRules.sentinels(.ipv4) + StatusRules.sentinels(.ipv6))
    let up = try rules.verdict(target, answer: rules.wayOut)
    #expect(up.path.status.isReachable && up.path.reason == nil && up.phase == .optimistic && up.addresses.isEmpty)
    let down = try rules.verdict(target) { _ in .refused(.noRoute) }
    #expect(down.path == .none(.noRoute) && down.phase == .optimistic)
  }

  @Test("E3-4 a name that does not exist is not reachable, and no question is asked for it")
  func notFound() throws {
    let found = try verdict(.notFound, answer: rules.wayOut)
    #expect(found.path == .none(.dnsNotFound) && found.phase == .resolved && found.addresses.isEmpty)
    let target = try ReachabilityTarget(host: "db.internal")
    #expect(TargetRules.queries(for: target, resolution: .notFound, in: try rules.tables()).isEmpty)
  }

  @Test(
    "When the servers fail, the verdict stays optimistic and names the failure",
    arguments: [
      Reason.dnsServerFailure, .dnsTimeout,
    ])
  func failed(_ reason: Reason) throws {
    let up = try verdict(.failed(reason), answer: rules.wayOut)
    #expect(up.path.status.isReachable && up.path.reason == reason && up.phase == .optimistic)
    let down = try verdict(.failed(reason)) { _ in .refused(.prohibited) }
    #expect(down.path == .none(.prohibited) && down.phase == .optimistic)
  }

  @Test("E3-5 of several addresses the best counts, the first on a tie")
  func bestRank() throws {
    let list = ["10.1.0.1", "10.2.0.1", "fd00::9", "10.3.0.1"]
    let answers: [String: RouteAnswer] = [
      "10.1.0.1": .refused(.noRoute), "10.2.0.1": .refused(.prohibited),
      "fd00::9": .route(try .onLink("fd00::/64", source: "fd00::5")),
      "10.3.0.1": .route(try .byDefault(via: "10.0.0.1")),
    ]
    func found(_ names: [String]) throws -> HostVerdict {
      try verdict(.addresses(try names.map { try ip($0) })) {
        answers[$0.destination.description] ?? .refused(.noRoute)
      }
    }
    let all = try found(list)
    #expect(all.path.flags == [.reachable, .isDirect] && all.phase == .resolved)
    #expect(all.addresses.map(\.address.description) == list)
    #expect(all.addresses.map(\.path.status.isReachable) == [false, false, true, true])
    #expect(try found(["10.1.0.1", "10.2.0.1"]).path.reason == .prohibited)
    #expect(try found(["10.1.0.1"]).path.reason == .noRoute)
  }

  @Test("E3-5 an address behind a connection that must be made ranks between reachable and none")
  func connectionRequiredRank() throws {
    let waiting = Interface.sample(3, "eth1", flags: .up, state: .dormant)
    let tables = KernelTables(interfaces: [.loopback(), .sample(2), waiting])
    func reason(_ last: RouteAnswer) throws -> Reason? {
      let resolution = NameResolution.addresses([try ip("10.1.0.1"), try ip("10.2.0.1"), try ip("10.3.0.1")])
      return try rules.verdict(ReachabilityTarget(host: "db.internal"), resolution, in: tables) { query in
        switch query.destination.description {
        case "10.1.0.1": .refused(.blackhole)
        case "10.2.0.1": .route(try .onLink("10.2.0.0/24", on: 3))
        default: last
        }
      }.path.reason
    }
    #expect(try reason(.refused(.noRoute)) == .connectionRequired)
    #expect(try reason(.route(try .byDefault(via: "10.0.0.1"))) == nil)
  }

  @Test("Addresses of a name that the source cannot send to have no source")
  func namePair() throws {
    let target = try ReachabilityTarget(host: "db.internal", source: "10.0.0.5")
    let resolution = NameResolution.addresses([try ip("fd00::9"), try ip("10.9.9.9"), try ip("::ffff:10.9.9.8")])
    let found = try rules.verdict(target, resolution, answer: rules.wayOut)
    #expect(found.addresses.map(\.path.reason) == [.noSource, nil, nil])
    #expect(found.path.status.isReachable)
  }

  @Test("A link-local address of a name is reachable only through a requested interface")
  func linkLocal() throws {
    let resolution = NameResolution.addresses([try ip("fe80::9")])
    for (interface, reason) in [(nil, .noRoute), ("eth0", nil)] as [(String?, Reason?)] {
      let target = try ReachabilityTarget(host: "db.internal", interface: interface)
      let found = try rules.verdict(target, resolution) { _ in
        .route(try .onLink("fe80::/64", on: 2, source: "fe80::5"))
      }
      #expect(found.path.reason == reason)
    }
  }

  @Test("E3-7 without a default route a resolved name is judged by its address")
  func withoutDefault() throws {
    let found = try verdict(.addresses([try ip("127.0.0.1")])) { query in
      guard query.destination.isLoopback else { return .refused(.noRoute) }
      var route = try Route.onLink("127.0.0.1/32", on: 1, source: "127.0.0.1")
      route.type = .local
      return .route(route)
    }
    #expect(found.path.flags == [.reachable, .isLocalAddress])
  }

  @Test("A name for 0.0.0.0 or :: is this machine, to which connect(2) connects")
  func unspecified() throws {
    let target = try ReachabilityTarget(host: "blocked.internal")
    for (address, own) in [("0.0.0.0", "127.0.0.1"), ("::", "::1")] {
      let resolution = NameResolution.addresses([try ip(address)])
      let queries = TargetRules.queries(for: target, resolution: resolution, in: KernelTables())
      #expect(try queries == [RouteQuery(ip(own))])
    }
  }
}
