import EventLoop
import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// `/gates` over a scripted prober.
@Suite struct GateRoutesTests {
  let service: ScriptedService

  init() throws {
    service = try ScriptedService()
    service.prober.follow { _ in TargetRoutesTests.result(.up) }
  }

  private func target(_ id: String, _ more: String = "") throws {
    let body = #"{"target": "tcp://10.0.0.9:1", "interval": "24h", "fall": 1\#(more)}"#
    _ = try service.send("PUT", "/targets/\(id)", body)
  }

  private func gate(_ id: String = "app") throws -> [String: Any] { try service.ask("/gates/\(id)").object() }

  private func wait(_ id: String = "app", toBe state: String) throws {
    #expect(try eventually { try gate(id)["state"] as? String == state }, "\(id) is not \(state)")
  }

  @Test func gateIsAddedReadChangedAndRemoved() throws {
    let made = try service.send("PUT", "/gates/app", #"{"targets": ["db"]}"#)
    #expect(made.status == 201 && made.headers["Location"] == "/gates/app")
    #expect(try made.object()["state"] as? String == "closed")
    #expect(try made.object()["reason"] as? String == "notRegistered")
    #expect(try made.object()["missing"] as? [String] == ["db"])
    try target("db")
    try wait(toBe: "open")
    let read = try service.ask("/gates/app")
    #expect(read.status == 200 && read.definitionTag == made.definitionTag)
    let document = try read.object()
    #expect(document["reason"] is NSNull && document["opensAt"] is NSNull && document["origin"] as? String == "runtime")
    #expect((document["members"] as? [String: Int])?["up"] == 1)
    let text = try service.ask("/gates/app", ["Accept": "text/plain"])
    #expect(text.text.hasPrefix("open app since 20") && text.headers["ETag"] != read.headers["ETag"])
    let textTag = try #require(text.headers["ETag"])
    #expect(try service.ask("/gates/app", ["If-None-Match": textTag]).status == 200)
    #expect(try service.ask("/gates/app", ["If-None-Match": textTag, "Accept": "text/plain"]).status == 304)
    #expect(try service.ask("/gates").object()["gates"] as? [Any] != nil)
    // The document can be sent back.
    let same = try service.send("PUT", "/gates/app", read.text, ["If-Match": try #require(read.headers["ETag"])])
    #expect(same.status == 200 && same.headers["ETag"] == read.headers["ETag"])
    let changed = try service.send("PUT", "/gates/app", #"{"targets": ["db"], "machine": {"connectionType": "wwan"}}"#)
    #expect(changed.status == 200 && changed.definitionTag != read.definitionTag)
    #expect(try gate()["reason"] as? String == "machine")
    #expect(try service.send("DELETE", "/gates/app").status == 204)
    #expect(try service.ask("/gates/app").status == 404)
    #expect(try service.send("DELETE", "/gates/app").status == 404)
  }

  @Test func preconditionsCompareTheDefinition() throws {
    let made = try service.send("PUT", "/gates/app", #"{"machine": "reachable"}"#, ["If-None-Match": "*"])
    #expect(made.status == 201)
    let tag = try #require(made.headers["ETag"])
    #expect(try service.send("PUT", "/gates/app", #"{"targets": ["a"]}"#, ["If-None-Match": "*"]).status == 412)
    #expect(try service.send("PUT", "/gates/app", #"{"targets": ["a"]}"#, ["If-Match": tag]).status == 200)
    #expect(try service.send("PUT", "/gates/app", #"{"targets": ["b"]}"#, ["If-Match": tag]).status == 412)
    #expect(try service.send("DELETE", "/gates/app", "", ["If-Match": tag]).status == 412)
    #expect(try service.send("PUT", "/gates/new", #"{"targets": ["b"]}"#, ["If-Match": "*"]).status == 412)
  }

  @Test func requireOpenAnswers503ImmediatelyAndWithoutATag() throws {
    _ = try service.send("PUT", "/gates/app", #"{"targets": ["db"]}"#)
    for isOpen in [false, true] {
      if isOpen {
        try target("db")
        try wait(toBe: "open")
      }
      let tag = try #require(try service.ask("/gates/app").headers["ETag"])
      #expect(try service.ask("/gates/app").status == 200)
      for match in [tag, "*"] {
        let answer = try service.ask("/gates/app?require=open&wait=1m", ["If-None-Match": match, "Prefer": "wait=60"])
        #expect(answer.status == (isOpen ? 200 : 503))
        #expect(answer.headers["ETag"] == nil && answer.headers["Cache-Control"] == "no-store")
        #expect(try answer.object()["state"] as? String == (isOpen ? "open" : "closed"))
      }
      #expect(try service.ask("/gates/app", ["If-None-Match": tag]).status == 304)
    }
    #expect(try service.problem("/gates/app?require=closed") == "badRequest")
    #expect(try service.problem("/gates/none?require=open") == "notFound")
    #expect(try service.problem("/gates/NONE") == "badRequest")
  }

  @Test func clientWaitsForAChange() throws {
    _ = try service.send("PUT", "/gates/app", #"{"targets": ["db"]}"#)
    for path in ["/gates/app", "/gates"] {
      let tag = try #require(try service.ask(path).headers["ETag"])
      let waiter = try service.park("\(path)?wait=1m", ["If-None-Match": tag])
      #expect(waiter.answer == nil)
      if path == "/gates" {
        _ = try service.send("PUT", "/gates/second", #"{"machine": "reachable"}"#)
      } else {
        try target("db")
      }
      let answer = try waiter.waitForAnswer()
      #expect(answer.status == 200 && answer.headers["ETag"] != tag)
      waiter.end()
      // The check that follows changes the document again.
      if path == "/gates/app" { try wait(toBe: "open") }
    }
  }

  @Test func removedGateEndsAWait() throws {
    _ = try service.send("PUT", "/gates/app", #"{"targets": ["db"]}"#)
    let tag = try #require(try service.ask("/gates/app").headers["ETag"])
    let waiter = try service.park("/gates/app?wait=1m", ["If-None-Match": tag])
    _ = try service.send("DELETE", "/gates/app")
    #expect(try waiter.waitForAnswer().status == 404)
    waiter.end()
  }

  @Test func cachedDocumentsAreValidUntilAChange() throws {
    try target("db")
    _ = try service.send("PUT", "/gates/app", #"{"targets": ["db"]}"#)
    try wait(toBe: "open")
    for path in ["/gates/app", "/gates/app?require=open", "/gates"] {
      var validity = try #require(try service.ask(path).cacheValidity)
      // A check may have been under way.
      let isValid = try eventually {
        validity = try #require(try service.ask(path).cacheValidity)
        return validity.isValid
      }
      #expect(isValid)
      service.prober.follow { _ in TargetRoutesTests.result(.down, .refused) }
      _ = try service.send("POST", "/targets/db/check")
      try wait(toBe: "closed")
      #expect(eventually { !validity.isValid }, "\(path)")
      service.prober.follow { _ in TargetRoutesTests.result(.up) }
      for _ in 0..<2 { _ = try service.send("POST", "/targets/db/check") }
      try wait(toBe: "open")
    }
  }

  @Test func listIsMadeOnceAfterAChange() throws {
    for id in ["a", "b"] { _ = try service.send("PUT", "/gates/\(id)", #"{"targets": ["db"]}"#) }
    func list() -> SharedResponseBody { service.service.gateDocuments.list(isText: false) }
    let first = list()
    #expect(list() === first)
    try target("db")
    for id in ["a", "b"] { try wait(id, toBe: "open") }
    #expect(list() !== first && String(decoding: list().bytes, as: UTF8.self).contains("\"open\""))
    _ = try service.send("DELETE", "/gates/a")
    #expect(try service.ask("/gates").object()["gates"].flatMap { $0 as? [Any] }?.count == 1)
  }

  @Test func aPollShowsWhatItsClientMaySeeAtTheEnd() throws {
    let (old, new) = (try AccessPolicyTests.token("a", [.admin]), try AccessPolicyTests.token("b", [.admin]))
    let rules = AccessPolicy.Rules(reads: .token, checks: .token)
    func replace(_ tokens: [AccessToken], gatesAreOpen: Bool) {
      service.service.replaceAccess(
        AccessPolicy(listeners: [rules], tokens: tokens, gatesAreOpen: gatesAreOpen))
    }
    replace([old.configured, new.configured], gatesAreOpen: true)
    #expect(try service.send("PUT", "/gates/app", #"{"targets": ["secret"]}"#, new.headers).status == 201)
    func park(_ headers: HTTPHeaders) throws -> ParkedRequest {
      var headers = headers
      headers["If-None-Match"] = try service.ask("/gates/app", headers).headers["ETag"]
      return try service.park("/gates/app?wait=1m", headers)
    }
    let (revoked, kept, anonymous) = (try park(old.headers), try park(new.headers), try park([:]))
    replace([new.configured], gatesAreOpen: true)
    #expect(try service.send("PUT", "/gates/app", #"{"targets": ["secret2"]}"#, new.headers).status == 200)
    let answers = (try revoked.waitForAnswer(), try kept.waitForAnswer(), try anonymous.waitForAnswer())
    #expect(answers.0.status == 200 && !answers.0.text.contains("secret"), "\(answers.0.text)")
    #expect(answers.1.status == 200 && answers.1.text.contains("secret2"))
    #expect(answers.2.status == 200 && !answers.2.text.contains("secret"))
    for request in [revoked, kept, anonymous] { request.end() }
    let (closed, stays) = (try park([:]), try park(new.headers))
    replace([new.configured], gatesAreOpen: false)
    #expect(try closed.waitForAnswer().status == 401)
    #expect(stays.answer == nil)
    for request in [closed, stays] { request.end() }
  }

  @Test func membersArePaged() throws {
    for id in ["a", "b", "c"] { try target(id, #", "labels": {"tier": "backend"}"#) }
    try target("d")
    _ = try service.send("PUT", "/gates/app", #"{"select": {"tier": "backend"}, "clients": true, "targets": ["x"]}"#)
    let first = try service.ask("/gates/app/members?limit=2")
    let ids = try (first.object()["members"] as? [[String: String]])?.compactMap { $0["id"] }
    #expect(ids == ["a", "b"])
    let link = try #require(first.headers["Link"])
    let next = try #require(link.firstMatch(of: #/<(.*)>/#)?.1)
    let second = try service.ask(String(next)).object()
    #expect((second["members"] as? [[String: String]])?.compactMap { $0["id"] } == ["c", "x"])
    #expect(second["next"] is NSNull)
    let missing = try service.ask("/gates/app/members?state=notRegistered").object()["members"] as? [[String: String]]
    #expect(missing == [["id": "x", "state": "notRegistered"]])
    let selected = try service.ask("/gates/app/members?limit=1&state=up,starting,notRegistered")
    #expect(selected.headers["Link"]?.contains("state=up,starting,notRegistered&") == true)
    #expect(try service.problem("/gates/app/members?state=open") == "badRequest")
    #expect(try service.problem("/gates/none/members") == "notFound")
  }

  @Test func gatesOfTheFileBelongToIt() throws {
    service.service.schedule.gates.configure([GateDefinition(id: "app", machine: .reachable)])
    #expect(try gate()["state"] as? String == "open")
    #expect(try gate()["origin"] as? String == "configuration")
    #expect(try service.send("PUT", "/gates/app", #"{"targets": ["a"]}"#).status == 409)
    #expect(try service.send("DELETE", "/gates/app").status == 409)
  }

  @Test func probesWithoutATokenReadTheStateOnly() throws {
    let token = try AccessPolicyTests.token("a", [.read])
    let open = try ScriptedService(
      .wired,
      .init {
        $0.access = AccessPolicy(listeners: [.init(reads: .token)], tokens: [token.configured], gatesAreOpen: true)
      })
    open.service.schedule.gates.configure([GateDefinition(id: "app", targets: ["secret"])])
    let probe = try open.ask("/gates/app?require=open")
    #expect(probe.status == 503 && probe.headers["Vary"]?.contains("Authorization") == true)
    #expect(try probe.object().keys.sorted() == ["id", "reason", "state"])
    #expect(try open.ask("/gates/app", ["Accept": "text/plain"]).text == "closed app notRegistered\n")
    let whole = try open.ask("/gates/app", token.headers)
    #expect(try whole.object()["missing"] as? [String] == ["secret"])
    #expect(try open.ask("/gates/app").headers["ETag"] != whole.headers["ETag"])
    for path in ["/gates", "/gates/app/members", "/status", "/targets"] {
      #expect(try open.ask(path).status == 401, "\(path)")
    }
    open.service.replaceAccess(AccessPolicy(listeners: [.init(reads: .token)], tokens: [token.configured]))
    #expect(try open.ask("/gates/app?require=open").status == 401)
  }

  @Test func eventsFollowThoseOfTheirMembers() throws {
    for id in ["a", "b"] { try target(id) }
    for id in ["a", "b"] { try service.wait(for: id, toBe: "up") }
    _ = try service.send("PUT", "/gates/app", #"{"targets": ["a", "b"], "machine": "reachable"}"#)
    try wait(toBe: "open")
    service.kernel.change { $0.removeDefaults(.ipv4) }
    service.kernel.advance(by: .seconds(1))
    try wait(toBe: "closed")
    let events = try service.ask("/events", ["Accept": "application/json"]).array()
    let gates = events.filter { $0["type"] as? String == "gate" }
    #expect(gates.count == 2, "\(gates)")
    #expect(gates.first?["from"] is NSNull && gates.first?["to"] as? String == "open")
    #expect(gates.last?["from"] as? String == "open" && gates.last?["to"] as? String == "closed")
    #expect(events.last?["type"] as? String != "status", "the gate's event follows what decided it")
    let numbers = events.compactMap { ($0["id"] as? String)?.split(separator: "-").last.flatMap { Int($0) } }
    #expect(numbers == Array(1...numbers.count))
  }

  @Test func metricsHaveStateAndMembers() throws {
    try target("db")
    _ = try service.send("PUT", "/gates/app", #"{"targets": ["db", "none"]}"#)
    try service.wait(for: "db", toBe: "up")
    let metrics = try service.ask("/metrics").text
    #expect(metrics.contains("reachd_gate_open{gate=\"app\"} 0\n"))
    #expect(metrics.contains("reachd_gate_members{gate=\"app\",state=\"up\"} 1\n"))
    #expect(metrics.contains("reachd_gate_members{gate=\"app\",state=\"notRegistered\"} 1\n"))
  }
}
