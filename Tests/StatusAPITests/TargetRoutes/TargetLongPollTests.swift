import Credentials
import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// Conditional requests for registered targets, and those that wait.
@Suite struct TargetLongPollTests {
  let service: ScriptedService
  private static let resources = ["/targets/db", "/targets", "/targets?state=up&limit=1"]

  /// Two targets that are up.
  init() throws {
    service = try ScriptedService()
    service.prober.follow { _ in TargetRoutesTests.result(.up) }
    for id in ["db", "web"] {
      _ = try service.send("PUT", "/targets/\(id)", #"{"target": "tcp://10.0.0.9:1", "fall": 1}"#)
      try service.wait(for: id, toBe: "up")
    }
  }

  private func tag(_ target: String) throws -> String { try #require(try service.ask(target).headers["ETag"]) }

  private func park(_ target: String, _ tag: String? = nil) throws -> ParkedRequest {
    try service.park(
      target + (target.contains("?") ? "&" : "?") + "wait=30s", ["If-None-Match": tag ?? self.tag(target)])
  }

  @Test(arguments: resources)
  func matchingTargetTagAnswers304(target: String) throws {
    let tag = try tag(target)
    let known = try service.ask(target, ["If-None-Match": tag])
    #expect(known.status == 304 && known.bytes.isEmpty && known.headers["ETag"] == tag)
    #expect(known.headers["Content-Type"] == nil)
    #expect(known.headers["Last-Event-ID"] == (try service.ask(target).headers["Last-Event-ID"]))
    #expect(try service.ask(target, ["If-None-Match": "\"other\""]).status == 200)
    #expect(try service.ask(target + (target.contains("?") ? "&" : "?") + "wait=10m").status == 200)
  }

  @Test func tagsIdentifyTheirResource() throws {
    #expect(try tag("/targets/db").wholeMatch(of: /"[0-9a-f]{8}-[0-9]+\.[0-9]+"/) != nil)
    #expect(try tag("/targets").wholeMatch(of: /W\/"[0-9a-f]{8}-[0-9]+"/) != nil)
    #expect(try tag("/targets") != tag("/targets?limit=1"))
    // A check that finds the same is no news.
    let before = try tag("/targets/db")
    #expect(try service.send("POST", "/targets/db/check").headers["ETag"] == before)
    #expect(try tag("/targets/db") == before)
  }

  @Test(arguments: ["/targets/db", "/targets"]) func anyStateIsKnown(target: String) throws {
    let waiter = try park(target, "*")
    let other = try park(target)
    service.prober.follow { _ in TargetRoutesTests.result(.down, .refused) }
    _ = try service.send("POST", "/targets/db/check")
    #expect(try other.waitForAnswer().status == 200)
    #expect(waiter.expire().status == 304 && waiter.answer == nil)
    #expect(try service.send("DELETE", "/targets/db").status == 204)
    if target == "/targets/db" { #expect(try waiter.waitForAnswer().status == 404) }
    for request in [waiter, other] { request.end() }
  }

  @Test func aPageReturnsToAKnownState() throws {
    let page = "/targets?limit=2"
    let first = try tag(page)
    let body = #"{"target": "tcp://10.0.0.9:1", "fall": 1}"#
    #expect(try service.send("PUT", "/targets/dc", body).status == 201)
    try service.wait(for: "dc", toBe: "up")
    let second = try tag(page)
    let waiter = try park(page, "\(first), \(second)")
    let other = try park(page)
    #expect(try service.send("DELETE", "/targets/dc").status == 204)
    #expect(try other.waitForAnswer().headers["ETag"] == first)
    // It was not on the page that the client waits with, and is on the present one.
    service.prober.follow { _ in TargetRoutesTests.result(.down, .refused) }
    _ = try service.send("POST", "/targets/web/check")
    let answer = try waiter.waitForAnswer()
    #expect(answer.status == 200 && ![first, second].contains(answer.headers["ETag"]))
    for request in [waiter, other] { request.end() }
  }

  @Test("A state change answers the wait", arguments: resources)
  func aStateChanges(target: String) throws {
    let tag = try tag(target)
    let waiter = try park(target)
    service.prober.follow { _ in TargetRoutesTests.result(.down, .refused) }
    let checked = try service.send("POST", "/targets/db/check")
    #expect(try checked.object()["state"] as? String == "down")
    let answer = try waiter.waitForAnswer()
    #expect(answer.status == 200 && answer.headers["ETag"] != tag)
    #expect(answer.headers["ETag"] == (try self.tag(target)))
    waiter.end()
  }

  @Test("Every definition change answers the wait", arguments: ["/targets/db", "/targets"])
  func aDefinitionChanges(target: String) throws {
    let put = try park(target)
    _ = try service.send("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:1", "fall": 2}"#)
    #expect(try put.waitForAnswer().status == 200)
    put.end()
    let post = try park(target)
    _ = try service.send("POST", "/targets", #"[{"id": "db", "target": "tcp://10.0.0.9:1", "fall": 3}]"#)
    #expect(try post.waitForAnswer().status == 200)
    post.end()
    let pause = try park(target)
    _ = try service.send("POST", "/targets/db/pause")
    #expect(try pause.waitForAnswer().status == 200)
    pause.end()
  }

  @Test func changeAnswersOnlyMatchingWaits() throws {
    let (own, list) = (try park("/targets/db"), try park("/targets"))
    let (labelled, page) = (try park("/targets?label=env"), try park("/targets?limit=1"))
    _ = try service.send("POST", "/targets/web/pause")
    #expect(try list.waitForAnswer().status == 200)
    #expect(own.answer == nil && labelled.answer == nil && page.answer == nil, "web is on the second page")
    _ = try service.send("PUT", "/targets/third", #"{"target": "tcp://10.0.0.9:1", "labels": {"env": "prod"}}"#)
    #expect(try labelled.waitForAnswer().status == 200)
    #expect(own.answer == nil && page.answer == nil)
    _ = try service.send("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:1", "fall": 9}"#)
    #expect(try own.waitForAnswer().status == 200)
    #expect(try page.waitForAnswer().status == 200)
    for waiter in [own, list, labelled, page] { waiter.end() }
  }

  @Test func waitForAPageEndsWhenTheNextPageEmpties() throws {
    let page = try park("/targets?limit=1")
    _ = try service.send("DELETE", "/targets/web")
    #expect(try page.waitForAnswer().status == 200)
    page.end()
  }

  @Test func waitForAStateReportsEnteringAndLeavingTargets() throws {
    let (up, down, other) = (
      try park("/targets?state=up"), try park("/targets?state=down"), try park("/targets?label=env")
    )
    service.prober.follow { _ in TargetRoutesTests.result(.down, .refused) }
    for _ in 0..<3 { _ = try service.send("POST", "/targets/db/check") }
    #expect(try down.waitForAnswer().status == 200)
    #expect(try up.waitForAnswer().status == 200)
    #expect(other.answer == nil)
    _ = try service.send("PUT", "/targets/web", #"{"target": "tcp://10.0.0.9:1", "labels": {"env": "prod"}}"#)
    #expect(try other.waitForAnswer().status == 200)
    let labelled = try park("/targets?label=env")
    _ = try service.send("PUT", "/targets/web", #"{"target": "tcp://10.0.0.9:1"}"#)
    #expect(try labelled.waitForAnswer().status == 200, "it has lost its label")
    for waiter in [up, down, other, labelled] { waiter.end() }
  }

  @Test func waitForADeletedTargetAnswers404() throws {
    let (own, list) = (try park("/targets/db"), try park("/targets"))
    _ = try service.send("DELETE", "/targets/db")
    #expect(try own.waitForAnswer().status == 404)
    #expect(try list.waitForAnswer().status == 200)
    for waiter in [own, list] { waiter.end() }
  }

  @Test(arguments: resources)
  func timedOutTargetWaitAnswers304(target: String) throws {
    let tag = try tag(target)
    let waiter = try park(target)
    let answer = waiter.expire()
    #expect(answer.status == 304 && answer.headers["ETag"] == tag)
    waiter.end()
  }

  @Test func definitionTagSurvivesStateChanges() throws {
    let tag = try tag("/targets/db")
    service.prober.follow { _ in TargetRoutesTests.result(.down, .refused) }
    _ = try service.send("POST", "/targets/db/check")
    #expect(try self.tag("/targets/db") != tag)
    #expect(try service.send("POST", "/targets/db/pause", "", ["If-None-Match": tag]).status == 412)
    #expect(try service.send("DELETE", "/targets/db", "", ["If-Match": tag]).status == 204)
  }

  @Test(arguments: [
    "\"\"", "\"", "\".0\"", "\"x.0\"", "\"00000000-1.0\"", "TAG-without-state", "TAG.", "TAG.x", "TAG.0.0",
  ])
  func unknownTagNeverMatches(text: String) throws {
    let definition = try tag("/targets/db").dropFirst().prefix { $0 != "." }
    let tag = text.hasPrefix("TAG") ? "\"\(definition)\(text.dropFirst(3))\"" : text
    #expect(try service.send("POST", "/targets/db/pause", "", ["If-Match": tag]).status == 412)
  }
}

/// Long polls whose token is revoked while they wait.
@Suite struct LongPollAccessTests {
  @Test func longPollsEndWithTheirToken() throws {
    let (old, new) = (try AccessPolicyTests.token("a", [.read]), try AccessPolicyTests.token("a", [.read]))
    let service = try AccessPolicyTests.service(.init(reads: .token), [old.configured, new.configured])
    func park(_ target: String, _ headers: HTTPHeaders) throws -> ParkedRequest {
      let tag = try #require(try service.ask(target, headers).headers["ETag"])
      var headers = headers
      headers["If-None-Match"] = tag
      return try service.park(target + "?wait=1m", headers)
    }
    for target in ["/status", "/hosts/10.0.0.9", "/targets", "/interfaces"] {
      let (revoked, kept) = (try park(target, old.headers), try park(target, new.headers))
      service.service.replaceAccess(AccessPolicy(listeners: [.init(reads: .token)], tokens: [new.configured]))
      #expect(try revoked.waitForAnswer().status == 401, "\(target)")
      #expect(kept.answer == nil, "\(target)")
      // One that is revoked without an announcement, as an expired token is.
      #expect(kept.expire().status != 401)
      for request in [revoked, kept] { request.end() }
      service.service.replaceAccess(
        AccessPolicy(listeners: [.init(reads: .token)], tokens: [old.configured, new.configured]))
    }
  }
}
