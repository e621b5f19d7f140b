import DequeModule
import EventLoop
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// Conditional requests and those that wait.
@Suite struct LongPollTests {
  /// The tag of a resource now.
  private func tag(_ target: String, _ service: ScriptedService) throws -> String {
    try #require(try service.ask(target).headers["ETag"])
  }

  private static let resources = ["/status", "/interfaces", "/hosts/10.0.0.9", "/hosts/default"]

  @Test(arguments: resources)
  func matchingTagWithoutWaitAnswers304(target: String) throws {
    let service = try ScriptedService()
    let tag = try tag(target, service)
    #expect(tag.wholeMatch(of: /W\/"[0-9a-f]{8}-[0-9]+"/) != nil)
    let known = try service.ask(target, ["If-None-Match": tag])
    #expect(known.status == 304 && known.bytes.isEmpty && known.headers["ETag"] == tag)
    #expect(known.headers["Content-Type"] == nil)
    #expect(try service.ask(target, ["If-None-Match": "\"other\""]).status == 200)
    // No wait without a state to wait for another of.
    #expect(try service.ask(target + "?wait=10m").status == 200)
    #expect(try service.ask(target + "?wait=10m", ["If-None-Match": "\"other\""]).status == 200)
  }

  @Test(arguments: resources)
  func stateChangeAnswersAWaitingRequest(target: String) throws {
    let service = try ScriptedService()
    let tag = try tag(target, service)
    let waiter = try service.park(target + "?wait=30s", ["If-None-Match": tag, "X-Request-Id": "mine"])
    #expect(waiter.limit == .seconds(30))
    service.kernel.change()
    #expect(waiter.answer == nil, "nothing changed")
    service.kernel.change { $0.change("eth0") { $0.flags.remove(.up) } }
    service.kernel.advance(by: .seconds(1))
    let answer = try waiter.waitForAnswer()
    #expect(answer.status == 200 && answer.headers["X-Request-Id"] == "mine")
    #expect(answer.headers["ETag"] != tag)
    let now = try self.tag(target, service)
    #expect(try service.ask(target, ["If-None-Match": now]).status == 304)
    waiter.end()
  }

  @Test func changeWakesOnlyMatchingRequests() throws {
    let service = try ScriptedService()
    let tags = try Self.resources.map { try tag($0, service) }
    let waiters = try zip(Self.resources, tags).map { try service.park("\($0)?wait=1m", ["If-None-Match": $1]) }
    // Another gateway: the way out and `default` change, the interfaces and the neighbour do not.
    service.kernel.change { $0.addDefault(via: "10.0.0.2", on: 2, metric: 50) }
    #expect(try waiters[0].waitForAnswer().status == 200)
    #expect(try waiters[3].waitForAnswer().status == 200)
    #expect(waiters[1].answer == nil && waiters[2].answer == nil)
    for waiter in waiters { waiter.end() }
    #expect(service.monitor.watchedVerdicts(limit: 10).watched == 0, "no target is watched without a client")
  }

  @Test(arguments: ["/status", "/interfaces", "/hosts/10.0.0.9"])
  func aStateThatTheClientHasDoesNotEndTheWait(target: String) throws {
    let service = try ScriptedService()
    let tag = try tag(target, service)
    let waiter = try service.park(target + "?wait=1m", ["If-None-Match": "*"])
    let other = try service.park(target + "?wait=1m", ["If-None-Match": tag])
    service.kernel.change { $0.change("eth0") { $0.flags.remove(.up) } }
    service.kernel.advance(by: .seconds(1))
    #expect(try other.waitForAnswer().status == 200)
    service.kernel.change { $0.change("eth0") { $0.flags.insert(.up) } }
    service.kernel.advance(by: .seconds(1))
    let (now, end) = (try self.tag(target, service), waiter.expire())
    #expect(waiter.answer == nil && end.status == 304)
    // The watch of a host may have a verdict that precedes that of a lookup.
    if !target.hasPrefix("/hosts") { #expect(end.headers["ETag"] == now && now != tag) }
    for request in [waiter, other] { request.end() }
  }

  @Test func theNextStateMayBeKnown() throws {
    let service = try ScriptedService()
    let tag = try tag("/interfaces", service)
    let match = try #require(tag.wholeMatch(of: /W\/"([0-9a-f]{8})-([0-9]+)"/))
    let number = try #require(Int(match.2))
    let next = #"W/"\#(match.1)-\#(number + 1)""#
    let waiter = try service.park("/interfaces?wait=1m", ["If-None-Match": "\(next), \(tag)"])
    let other = try service.park("/interfaces?wait=1m", ["If-None-Match": tag])
    service.kernel.change { $0.change("eth0") { $0.flags.remove(.up) } }
    #expect(try other.waitForAnswer().headers["ETag"] == next)
    #expect(waiter.expire().status == 304 && waiter.expire().headers["ETag"] == next)
    service.kernel.change { $0.change("eth0") { $0.flags.insert(.up) } }
    let answer = try waiter.waitForAnswer()
    #expect(answer.status == 200 && answer.headers["ETag"] != next)
    for request in [waiter, other] { request.end() }
  }

  @Test func timedOutWaitAnswers304() throws {
    let service = try ScriptedService()
    for target in Self.resources {
      let tag = try tag(target, service)
      let waiter = try service.park(target + "?wait=1s", ["If-None-Match": tag])
      let answer = waiter.expire()
      #expect(answer.status == 304 && answer.headers["ETag"] == tag)
      #expect(answer.headers["X-Request-Id"]?.isEmpty == false)
      waiter.end()
    }
  }

  @Test(arguments: [
    "/hosts/10.0.0.9?", "/hosts/localhost?", "/hosts/db.internal?resolve=none&", "/hosts/10.0.0.9?source=10.0.0.77&",
  ]) func missingInterfaceAnswersTheWait(target: String) throws {
    let service = try ScriptedService()
    let target = target + "interface=eth7"
    let tag = try tag(target, service)
    let waiter = try service.park(target + "&wait=1m", ["If-None-Match": tag])
    // An unresolved name has another state than a resolved one, which is not reported immediately.
    #expect(waiter.answer == nil && (waiter.expire().status == 304 || target.contains("localhost")))
    waiter.end()
    // A client with another state is answered immediately; a failed lookup is not a change.
    let other = try service.park(target + "&wait=1m", ["If-None-Match": "\"other\""])
    #expect(try other.waitForAnswer().status == 200)
    other.end()
    // The end may come before the watch's first word.
    let hasty = try service.park(target + "&wait=1m", ["If-None-Match": "\"other\""])
    #expect(hasty.expire().status == 200)
    hasty.end()
  }

  @Test(arguments: ["/hosts/10.0.0.9", "/hosts/default", "/hosts/db.internal?resolve=none"])
  func pendingLossDoesNotAnswerRepeatedly(target: String) throws {
    let service = try ScriptedService()
    // The host is watched already, so its earlier state is known.
    let first = try service.park(
      target + (target.contains("?") ? "&" : "?") + "wait=1m", ["If-None-Match": try tag(target, service)])
    service.kernel.change { $0.dropCarrier("eth0") }
    var tag = try tag(target, service)
    var answers = 0
    while answers < 5 {
      let waiter = try service.park(target + (target.contains("?") ? "&" : "?") + "wait=1m", ["If-None-Match": tag])
      defer { waiter.end() }
      guard let answer = waiter.answer else { break }
      tag = try #require(answer.headers["ETag"])
      answers += 1
    }
    #expect(answers <= 1, "one answer may tell what is told, then there is nothing to tell")
    let waiter = try service.park(target + (target.contains("?") ? "&" : "?") + "wait=1m", ["If-None-Match": tag])
    service.kernel.advance(by: .seconds(1))
    #expect(try first.waitForAnswer().status == 200)
    if answers == 1 { #expect(try waiter.waitForAnswer().status == 200) }
    for waiter in [first, waiter] { waiter.end() }
  }

  @Test func preferWaitIsAppliedAndConfirmed() throws {
    let service = try ScriptedService()
    let tag = try tag("/status", service)
    for (field, seconds, applied) in [
      ("wait=30", 30, "wait=30"), ("respond-async, wait=5; foo=bar", 5, "wait=5"), ("WAIT = \"7\"", 7, "wait=7"),
      ("wait=9999", 600, "wait=600"), ("wait=9999999999", 600, "wait=600"),
      ("wait=\(String(repeating: "9", count: 40))", 600, "wait=600"), ("wait=0000000000000000000000007", 7, "wait=7"),
      (#"foo="\", wait=3", wait=2"#, 2, "wait=2"), ("foo=\"a, wait=3\", wait=1", 1, "wait=1"),
    ] as [(String, Int64, String)] {
      let waiter = try service.park("/status", ["If-None-Match": tag, "Prefer": field])
      #expect(waiter.limit == .seconds(seconds), "\(field)")
      #expect(waiter.expire().headers["Preference-Applied"] == applied)
      waiter.end()
      #expect(try service.ask("/status", ["Prefer": field]).headers["Preference-Applied"] == applied)
    }
    for field in ["wait=soon", "wait", "wait=", "await=3", "wait=-1", "return=minimal"] {
      let answer = try service.ask("/status", ["If-None-Match": tag, "Prefer": field])
      #expect(answer.status == 304 && answer.headers["Preference-Applied"] == nil, "\(field)")
    }
    // The query is the louder of the two.
    let waiter = try service.park("/status?wait=2s", ["If-None-Match": tag, "Prefer": "wait=30"])
    #expect(waiter.limit == .seconds(2))
    waiter.end()
    for wait in ["601s", "11m", "1h", "soon", "-1s", "30", ""] {
      for target in Self.resources { #expect(try service.problem("\(target)?wait=\(wait)") == "badRequest") }
    }
  }

  @Test func unresolvedNameFollowsTheDefaultPath() throws {
    let service = try ScriptedService()
    let target = "/hosts/db.internal?resolve=none"
    let waiter = try service.park(target + "&wait=1m", ["If-None-Match": try tag(target, service)])
    service.kernel.change { $0.addInterface(3, "eth1", addresses: ["10.1.0.5/24"]) }
    #expect(waiter.answer == nil)
    service.kernel.change { $0.removeDefaults(.ipv4) }
    service.kernel.advance(by: .seconds(1))
    let answer = try waiter.waitForAnswer()
    #expect(try answer.object()["reason"] as? String == "noRoute")
    waiter.end()
  }

  @Test func nameIsWatchedThroughItsAddresses() throws {
    let service = try ScriptedService()
    let tag = try tag("/hosts/localhost", service)
    let waiter = try service.park("/hosts/localhost?wait=1m", ["If-None-Match": tag])
    #expect(eventually { service.monitor.watchedVerdicts(limit: 10).verdicts.contains { $0.phase == .resolved } })
    #expect(waiter.answer == nil, "being resolved is no news")
    service.kernel.change { script in
      script.interfaces.removeAll { $0.name == "lo" }
      script.routes.removeAll { $0.hops.contains { $0.interfaceIndex == 1 } }
    }
    // The reading that the addresses led to may still be under way: then the loss begins behind it.
    #expect(
      eventually {
        service.kernel.advance(by: .seconds(1))
        return waiter.answer != nil
      })
    #expect(try waiter.waitForAnswer().headers["ETag"] != tag)
    waiter.end()
  }

  @Test func unresolvableNameReportsALostDefaultPath() throws {
    // No server listens on port 1 of the loopback address.
    let service = try ScriptedService(nameServers: ["127.0.0.1:1"])
    let target = "/hosts/db.internal?timeout=20s"
    let tag = try tag(target, service)
    let waiter = try service.park(target + "&wait=1m", ["If-None-Match": tag])
    // The watch knows as much as the first answer told: what comes now is news, and not the poll's own first look.
    #expect(
      eventually {
        service.monitor.watchedVerdicts(limit: 10).verdicts.contains { $0.path.reason == .dnsServerFailure }
      })
    #expect(waiter.answer == nil, "what failed once more is no news")
    service.kernel.change { $0.removeDefaults(.ipv4) }
    #expect(
      eventually {
        service.kernel.advance(by: .seconds(1))
        return waiter.answer != nil
      })
    let answer = try waiter.waitForAnswer()
    #expect(try answer.object()["reason"] as? String == "noRoute", "\(answer.text)")
    waiter.end()
  }

  @Test func addressOrderDoesNotChangeTheTag() throws {
    let service = try ScriptedService()
    let first = try tag("/hosts/10.0.0.9", service)
    service.kernel.advance(by: .seconds(5))
    #expect(try tag("/hosts/10.0.0.9", service) == first)
    #expect(try tag("/hosts/10.0.0.10", service) != first)
    let text = try service.ask("/hosts/10.0.0.9", ["Accept": "text/plain"])
    #expect(text.headers["ETag"] == first, "a weak tag is that of all representations")
  }

  @Test func waitingRequestsShareOneWatch() throws {
    let service = try ScriptedService()
    let tag = try tag("/hosts/10.0.0.9", service)
    let waiters = try (0..<100).map { _ in try service.park("/hosts/10.0.0.9?wait=1m", ["If-None-Match": tag]) }
    #expect(service.monitor.watchedVerdicts(limit: 10).watched == 1)
    waiters[0].end()
    service.kernel.change { $0.change("eth0") { $0.flags.remove(.up) } }
    service.kernel.advance(by: .seconds(1))
    for waiter in waiters.dropFirst() {
      #expect(try waiter.waitForAnswer().status == 200)
      waiter.end()
    }
    #expect(waiters[0].answer == nil)
    #expect(service.monitor.watchedVerdicts(limit: 10).watched == 0)
  }
}
