import EmbeddedHTTPServer
import Foundation
@testable import HTTPRouting
import History
import NetworkReachability
import TestSupport
import Testing

@testable import StatusAPI

@Suite struct HistoryRoutesTests {
  private func entries(_ fixture: HistoryFixture, _ target: String) throws -> [[String: Any]] {
    try #require(try fixture.service.ask(target).object()["history"] as? [[String: Any]])
  }

  @Test(arguments: [
    "/history", "/targets/db/history", "/targets/db/uptime", "/uptime", "/targets/db/latency",
  ])
  func withoutAStoreThereIsNoHistory(target: String) throws {
    let response = try ScriptedService().ask(target)
    #expect(response.status == 503)
    #expect(try response.object()["code"] as? String == "storeDisabled")
    #expect(try (response.object()["detail"] as? String)?.contains("--data DIR") == true)
  }

  @Test func badgesOfTheStatusNeedNoStore() throws {
    let service = try ScriptedService()
    _ = try service.ask(
      "/targets/db", ["Content-Type": "application/json"], method: "PUT",
      body: Array(#"{"target": "tcp://10.0.0.9:1", "paused": true}"#.utf8))
    let badge = try service.ask("/targets/db/badge.svg")
    #expect(badge.status == 200)
    #expect(badge.text.contains(">paused</text>"))
    #expect(badge.headers["Cache-Control"] == "max-age=60")
    #expect(badge.headers["Cross-Origin-Resource-Policy"] == "cross-origin")
    #expect(badge.headers["Content-Type"] == "image/svg+xml")
    #expect(try service.problem("/targets/db/badge.svg?metric=uptime") == "storeDisabled")
    #expect(try service.problem("/targets/none/badge.svg") == "notFound")
  }

  @Test(arguments: [
    ("30d", "30d"), ("720h", "30d"), ("2d", "2d"), ("400d", "400d"), ("1d", "24h"), ("24h", "24h"), ("90s", "90s"),
    ("36h", "36h"), ("49h", "49h"), ("43200m", "30d"),
  ])
  func badgesNameTheirWindow(window: String, text: String) throws {
    let fixture = try HistoryFixture()
    defer { fixture.close() }
    _ = try fixture.service.ask(
      "/targets/db", ["Content-Type": "application/json"], method: "PUT",
      body: Array(#"{"target": "tcp://10.0.0.9:1", "paused": true}"#.utf8))
    let badge = try fixture.service.ask("/targets/db/badge.svg?metric=uptime&window=\(window)")
    #expect(badge.text.contains(">db uptime \(text)</text>"), "\(badge.text)")
  }

  /// The last month and those before it that are over, with the steps that a month has days.
  @Test(arguments: ["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"])
  func monthsAreWindows(zone: String) throws {
    let fixture = try HistoryFixture()
    defer { fixture.close() }
    _ = try fixture.service.ask(
      "/targets/db", ["Content-Type": "application/json"], method: "PUT",
      body: Array(#"{"target": "tcp://10.0.0.9:1", "paused": true}"#.utf8))
    let rules = try #require(TimeZoneDatabase().rules(zone))
    let now = fixture.history.time.wall
    let months =
      (0..<24).compactMap { CalendarMonth("\(2025 + $0 / 12)-\($0 % 12 < 9 ? "0" : "")\($0 % 12 + 1)") }
      + (0..<240).compactMap { CalendarMonth("\(2027 + $0 / 12)-\($0 % 12 < 9 ? "0" : "")\($0 % 12 + 1)") }
    var over = 0
    for month in months {
      let range = month.range(in: rules)
      let query = "window=\(month)&timeZone=\(zone)"
      let response = try fixture.service.ask("/targets/db/uptime?\(query)&step=1d")
      guard range.upperBound <= now, range.lowerBound >= now - 400 * 86_400_000_000 else {
        #expect(response.status == 400)
        continue
      }
      over += 1
      let uptime = try response.object()
      #expect(uptime["since"] as? String == Timestamp(microseconds: range.lowerBound).description)
      #expect(uptime["until"] as? String == Timestamp(microseconds: range.upperBound).description)
      let seconds = try #require(uptime["seconds"] as? [String: Double])
      #expect(seconds["unmonitored"] == Double(range.count) / 1_000_000)
      #expect((uptime["steps"] as? [Any])?.count == month.days(in: rules).count - 1)
      let list = try fixture.service.ask("/uptime?\(query)&limit=1").object()
      #expect(list["since"] as? String == uptime["since"] as? String)
      let badge = try fixture.service.ask("/targets/db/badge.svg?metric=uptime&\(query)").text
      #expect(badge.contains(">db uptime \(month)</text>"), "\(badge)")
    }
    #expect((11...13).contains(over), "of 400 days")
  }

  @Test func pagesFollowTheirLinks() throws {
    let fixture = try HistoryFixture()
    defer { fixture.close() }
    for index in 0..<Int64(10) { try fixture.change("t\(index % 2)", .targetUp, .targetDown, at: index) }
    fixture.setTime(20)
    var ids: [String] = []
    var link: String? = "/history?subject=target:t0&subject=target:t1&limit=3&since=-1h&order=asc"
    while let next = link {
      let response = try fixture.service.ask(next)
      try #require(response.status == 200, "\(response.text)")
      let page = try #require(try response.object()["history"] as? [[String: Any]])
      #expect(page.count <= 3)
      ids += page.compactMap { $0["id"] as? String }
      link = response.headers["Link"].map { String($0.dropFirst().prefix { $0 != ">" }) }
    }
    #expect(ids.compactMap { $0.split(separator: "-").last } == (1...10).map { "\($0)" })
  }

  @Test func entriesAreJSONLinesOnRequest() throws {
    let fixture = try HistoryFixture()
    defer { fixture.close() }
    try fixture.change("db", .targetUp, .targetDown, at: 1)
    fixture.setTime(5)
    let json = try fixture.service.ask("/history").text
    let lines = try fixture.service.ask("/history", ["Accept": "application/x-ndjson"]).text.split(separator: "\n")
    #expect(lines.count == 2, "the change and the start of the service")
    #expect(lines.allSatisfy { json.contains($0) })
  }

  @Test func thePageHasATagOfItsContent() throws {
    let fixture = try HistoryFixture()
    defer { fixture.close() }
    try fixture.change("db", .targetUp, .targetDown, at: 1)
    // With the start of the service.
    #expect(
      try eventually {
        try fixture.service.ask("/history", ["Accept": "application/x-ndjson"]).text.split(separator: "\n").count == 2
      })
    let tag = try #require(try fixture.service.ask("/history").headers["ETag"])
    #expect(try fixture.service.ask("/history", ["If-None-Match": tag]).status == 304)
    try fixture.change("db", .targetDown, .targetUp, at: 2)
    #expect(try fixture.service.ask("/history", ["If-None-Match": tag]).status == 200)
  }

  @Test func removedTargetsKeepTheirHistory() throws {
    let fixture = try HistoryFixture()
    defer { fixture.close() }
    try fixture.change("gone", .targetUp, .targetDown, at: 1)
    try fixture.change("gone", .targetDown, .targetRemoved, at: 11)
    fixture.setTime(60)
    #expect(try fixture.service.problem("/targets/gone") == "notFound")
    let states = try entries(fixture, "/targets/gone/history").compactMap { $0["to"] as? String }
    #expect(states == ["removed", "down"])
    let uptime = try fixture.service.ask("/targets/gone/uptime?window=1m").object()
    let seconds = try #require(uptime["seconds"] as? [String: Double])
    #expect(seconds["down"] == 10)
    #expect(seconds["unmonitored"] == 50)
    #expect(uptime["endedOutages"] as? Int == 1)
    #expect(try fixture.service.problem("/targets/never/history") == "notFound")
    #expect(try fixture.service.problem("/targets/never/uptime") == "notFound")
    #expect(try fixture.service.problem("/targets/never/latency") == "notFound")
  }

  @Test(arguments: [Int64(-86_400), 0, 86_400]) func settingTheClockChangesNothing(step: Int64) throws {
    let fixture = try HistoryFixture()
    defer { fixture.close() }
    try fixture.change("db", .targetUnknown, .targetUp, at: 0)
    try fixture.change("db", .targetUp, .targetDown, at: 100)
    try fixture.change("db", .targetDown, .targetUp, at: 160, clockStep: step)
    fixture.setTime(1_000, clockStep: step)
    let uptime = try fixture.service.ask("/targets/db/uptime?window=1000s").object()
    let seconds = try #require(uptime["seconds"] as? [String: Double])
    #expect(abs(try #require(seconds["up"]) - 940) < 1)
    #expect(abs(try #require(seconds["down"]) - 60) < 1)
    #expect(uptime["outages"] as? Int == 1)
    #expect(try entries(fixture, "/targets/db/history?since=-910s").count == 2)
  }

  @Test func aRegisteredTargetWithoutHistoryIsUnmonitored() throws {
    let fixture = try HistoryFixture()
    defer { fixture.close() }
    _ = try fixture.service.ask(
      "/targets/db", ["Content-Type": "application/json"], method: "PUT",
      body: Array(#"{"target": "tcp://10.0.0.9:1", "paused": true}"#.utf8))
    let uptime = try fixture.service.ask("/targets/db/uptime?step=6h").object()
    #expect(uptime["availability"] is NSNull)
    #expect(uptime["coverage"] as? Double == 0)
    let list = try #require(try fixture.service.ask("/uptime").object()["targets"] as? [[String: Any]])
    #expect(list.map { $0["id"] as? String } == ["db"])
    #expect(list[0]["availability"] is NSNull)
  }

  @Test(arguments: [
    ("/history?limit=1001", "limit"), ("/history?since=1h", "since"), ("/history?until=2026-13-01", "until"),
    ("/history?types=host", "type"), ("/history?states=on", "state"), ("/history?order=", "order"),
    ("/history?cursor=e", "cursor"), ("/history?cursor=e-1", "cursor"), ("/history?subject=interface:", "subject"),
    ("/targets/db/uptime?window=401d", "window"), ("/targets/db/uptime?window=1h&step=1s", "step"),
    ("/targets/db/uptime?window=2d&step=1m", "steps"), ("/targets/db/latency?step=5m", "step"),
    ("/targets/db/latency?quantiles=0.5,0.5", "quantiles"), ("/targets/db/latency?quantiles=-1", "quantiles"),
    ("/targets/db/latency?quantiles=,", "quantiles"), ("/uptime?limit=10001", "limit"), ("/uptime?label=", "label"),
    ("/uptime?window=2026-13", "month"), ("/uptime?window=2026-1", "month"),
    ("/uptime?window=9999-12", "is not over in UTC"),
    ("/targets/db/uptime?window=9999-12&timeZone=Asia/Tokyo", "is not over in Asia/Tokyo before 9999-12-31T15:00:00"),
    ("/targets/db/uptime?window=2001-10", "400 days"), ("/uptime?window=2001-10&timeZone=Europe/Nowhere", "tzdata"),
    ("/uptime?window=2001-10&timeZone=../UTC", "tzdata"), ("/uptime?timeZone=Europe/Berlin", "needs a month"),
    ("/uptime?window=30d&timeZone=UTC", "needs a month"), ("/targets/db/latency?window=2026-10", "window"),
  ])
  func invalidValuesAreExplained(target: String, word: String) throws {
    let fixture = try HistoryFixture()
    defer { fixture.close() }
    let response = try fixture.service.ask(target)
    #expect(response.status == 400)
    #expect(try (response.object()["detail"] as? String)?.contains(word) == true)
  }

  @Test func latenciesHaveQuantiles() throws {
    let fixture = try HistoryFixture()
    defer { fixture.close() }
    try fixture.change("db", .targetUnknown, .targetUp, at: 0)
    let now = fixture.history.time.wall / 1_000
    for index in 0..<Int64(100) {
      let sample = Sample(time: now - index, latency: UInt32(1_000 + index * 10), state: .up)
      fixture.history.recorder.record(sample, of: "target:db")
    }
    fixture.history.recorder.record(Sample(time: now, latency: nil, state: .down), of: "target:db")
    for step in ["1m", "1h", "1d"] {
      let latency = try fixture.service.ask("/targets/db/latency?step=\(step)&quantiles=0,0.5,1").object()
      let steps = try #require(latency["steps"] as? [[String: Any]])
      #expect(steps.compactMap { $0["checks"] as? Int }.reduce(0, +) == 101)
      #expect(steps.compactMap { $0["failed"] as? Int }.reduce(0, +) == 1)
      let quantiles = try #require(steps.last?["quantiles"] as? [String: Double])
      #expect(quantiles.keys.sorted() == ["0", "0.5", "1"])
      #expect(try #require(quantiles["1"]) <= 0.00199)
    }
    let badge = try fixture.service.ask("/targets/db/badge.svg?metric=latency")
    #expect(badge.status == 404, "the target is not registered")
  }

  @Test func streamsBeginAtATime() throws {
    let fixture = try HistoryFixture()
    defer { fixture.close() }
    fixture.setTime(10)
    // Nothing was stored since then: the stream begins at its end.
    let response = try fixture.service.ask("/events?since=-1s")
    #expect(response.status == 200)
    #expect(!response.text.contains("event: snapshot"))
    #expect(try fixture.service.problem("/events?since=1s") == "badRequest")
    #expect(try ScriptedService().problem("/events?since=-1s") == "storeDisabled")
    let known = try ScriptedService().ask("/events?since=-1s&lastEventId=gone")
    #expect(known.text.contains("event: gap"), "an id takes precedence")
  }

  @Test func badgesCanBeOpenWhereReadsNeedATokenAndNothingElse() throws {
    var policy = AccessPolicy(listeners: [.init(reads: .token)])
    let service = try ScriptedService(.wired, .init { $0.access = policy })
    #expect(try service.ask("/targets/db/badge.svg").status == 403)
    policy.opened = [.badges]
    service.service.replaceAccess(policy)
    #expect(try service.problem("/targets/db/badge.svg") == "notFound")
    #expect(try service.ask("/targets/db/uptime").status == 403)
    #expect(try service.ask("/status").status == 403)
  }
}

@Suite struct BadgeTests {
  @Test func textsAreEscapedAndShort() {
    let badge = HistoryBadge(label: "<script>&\"'\u{1}", value: String(repeating: "é", count: 200), color: .red).svg
    #expect(!badge.contains("<script"))
    #expect(badge.contains("&lt;script&gt;&amp;&quot;&#39;\u{fffd}"))
    #expect(badge.contains(String(repeating: "é", count: 62) + "…<"))
    #expect(XMLElements.areBalanced(badge))
  }

  @Test func percentIsRoundedDown() {
    #expect(BadgeRoutes.percent(1) == "100.00 %")
    #expect(BadgeRoutes.percent(0.99999) == "99.99 %")
    #expect(BadgeRoutes.percent(0.5) == "50.00 %")
    #expect(BadgeRoutes.percent(0.0005) == "0.05 %")
  }

  /// Opening and closing tags in order: enough XML for a badge.
  private enum XMLElements {
    static func areBalanced(_ text: String) -> Bool {
      var open: [Substring] = []
      for tag in text.matches(of: /<(\/?)([a-z]+)[^<>]*?(\/?)>/) {
        if !tag.output.1.isEmpty {
          guard open.popLast() == tag.output.2 else { return false }
        } else if tag.output.3.isEmpty {
          open.append(tag.output.2)
        }
      }
      return open.isEmpty
    }
  }
}

@Suite struct HistoryTimeParameterTests {
  private let now = Timestamp(microseconds: 1_000_000_000_000_000)

  @Test func momentsAreAbsoluteOrBeforeNow() {
    #expect(HistoryTimeParameter.moment("-15m", now: now)?.microseconds == now.microseconds - 900_000_000)
    #expect(HistoryTimeParameter.moment("-2d", now: now)?.microseconds == now.microseconds - 172_800_000_000)
    #expect(HistoryTimeParameter.moment("1970-01-02", now: now)?.microseconds == 86_400_000_000)
    for text in ["", "-", "1h", "+1h", "-1", "-d", "-0d", "-0s", "--1h", "-99999d", "now", "-1.5h"] {
      #expect(HistoryTimeParameter.moment(text, now: now) == nil, "\(text)")
    }
  }
}
