import Testing

@testable import HostResolver

@Suite struct ResolverSearchListTests {
  private func list(
    _ text: String, host: String = "host", _ environment: [String: String] = [:]
  ) -> ResolverSearchList {
    ResolverSearchList(resolvConf: text, hostName: host) { environment[$0] }
  }

  @Test(arguments: [
    ("", []), ("search a.test b.test", ["a.test", "b.test"]), ("search\ta.test \t b.test ", ["a.test", "b.test"]),
    ("domain a.test b.test", ["a.test"]), ("search a.test\nsearch b.test", ["b.test"]),
    ("search a.test\ndomain b.test", ["b.test"]), ("domain a.test\nsearch b.test c.test", ["b.test", "c.test"]),
    ("search a.test.", ["a.test"]), ("search .", ["."]), ("search a.test\nsearch", ["a.test"]),
    ("search a.test\r\noptions ndots:2\r\n", ["a.test"]), ("searching a.test", []), (" search a.test", []),
    ("#search a.test", []), ("; search a.test", []), ("SEARCH a.test", []),
  ])
  func lastListOfTheFileApplies(text: String, domains: [String]) {
    #expect(list(text).domains == domains)
  }

  @Test(arguments: [
    ("", 1), ("options ndots:5", 5), ("options rotate ndots:3 edns0", 3), ("options ndots:2\noptions ndots:4", 4),
    ("options ndots:0", 0), ("options ndots:99", 15), ("options ndots:", 0), ("options ndots:-1", 0),
    ("options ndots:x", 0), ("options ndots", 1), ("options\tndots:7", 7),
    ("options ndots:99999999999999999999", 0),
  ])
  func optionSetsTheDots(text: String, dots: Int) {
    #expect(list(text).dots == dots)
  }

  @Test func environmentTakesPrecedence() {
    let text = "search a.test\noptions ndots:2"
    #expect(list(text, ["LOCALDOMAIN": "b.test c.test"]).domains == ["b.test", "c.test"])
    #expect(list(text, ["LOCALDOMAIN": ""]).domains == [])
    #expect(list(text, ["RES_OPTIONS": "ndots:5 timeout:1"]).dots == 5)
    #expect(list(text, ["RES_OPTIONS": "timeout:1"]).dots == 2)
  }

  @Test func hostNameHasTheDomainIfTheFileHasNone() {
    #expect(list("nameserver 127.0.0.1", host: "web.a.test").domains == ["a.test"])
    #expect(list("search b.test", host: "web.a.test").domains == ["b.test"])
    #expect(list("", host: "").domains == [] && list("", host: "web").domains == [])
  }

  @Test func countOfDomainsIsLimited() {
    let text = "search " + (0..<2_000).map { "d\($0)" }.joined(separator: " ")
    #expect(list(text).domains.count == Limits.searchDomains)
    #expect(list(text).domains.last == "d\(Limits.searchDomains - 1)")
  }

  @Test func candidatesFollowTheDots() {
    let list = ResolverSearchList(domains: ["a.test", ".", String(repeating: "a.", count: 125) + "test"], dots: 2)
    #expect(list.candidates("db") == ["db.a.test", "db"])
    #expect(list.candidates("db.x") == ["db.x.a.test", "db.x"])
    #expect(list.candidates("db.x.y") == ["db.x.y", "db.x.y.a.test"])
    #expect(list.candidates("db.") == ["db."])
  }
}
