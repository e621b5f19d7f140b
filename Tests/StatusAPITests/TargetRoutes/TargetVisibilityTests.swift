import Dispatch
import Foundation
import Locks
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// Who sees the whole URL of a registered target.
@Suite struct TargetVisibilityTests {
  private static let body = #"{"target": "https://10.0.0.9/x?key=SECRET", "interval": "24h"}"#
  private static let full = "https://10.0.0.9/x?key=SECRET"
  private static let redacted = "https://10.0.0.9/x?key=REDACTED"

  private let service: ScriptedService
  /// Headers with a token of these scopes.
  private let headers: [Set<AccessScope>: HTTPHeaders]

  init() throws {
    let scopes: [Set<AccessScope>] = [[.read], [.read, .check], [.read, .targetsWrite], [.admin]]
    let tokens = try scopes.enumerated().map { try AccessPolicyTests.token("t\($0.offset)", $0.element) }
    headers = Dictionary(uniqueKeysWithValues: zip(scopes, tokens.map(\.headers)))
    service = try AccessPolicyTests.service(.init(reads: .open, checks: .token), tokens.map(\.configured))
    service.prober.follow { _ in TargetRoutesTests.result(.down, .httpStatus) }
    let made = try service.send("PUT", "/targets/api", Self.body, headers[[.admin]] ?? [:])
    try #require(made.status == 201)
    try service.wait(for: "api", toBe: "down")
  }

  private func text(_ target: String, _ scopes: Set<AccessScope>?, _ more: HTTPHeaders = [:]) throws -> String {
    var headers = scopes.flatMap { self.headers[$0] } ?? [:]
    for field in more { headers[field.name] = field.value }
    return try service.ask(target, headers).text.replacing("\\/", with: "/")
  }

  @Test(arguments: ["/targets", "/targets/api"]) func writersSeeTheWholeURL(path: String) throws {
    for scopes: Set<AccessScope> in [[.read, .targetsWrite], [.admin]] {
      #expect(try text(path, scopes).contains("\"target\":\"\(Self.full)\""))
    }
    for scopes: Set<AccessScope>? in [nil, [.read], [.read, .check]] {
      let text = try text(path, scopes)
      #expect(text.contains("\"target\":\"\(Self.redacted)\"") && !text.contains("SECRET"), "\(text)")
    }
  }

  @Test func theLineOfATargetIsTheSame() throws {
    let plain: HTTPHeaders = ["Accept": "text/plain"]
    #expect(try text("/targets", [.admin], plain).contains(" \(Self.full) "))
    #expect(try text("/targets", nil, plain).contains(" \(Self.redacted) "))
  }

  @Test func anUnknownTokenSeesWhatNoneSees() throws {
    let unknown = try AccessPolicyTests.token("other", [.admin]).headers
    #expect(try !service.ask("/targets/api", unknown).text.contains("SECRET"))
  }

  @Test func eventsAndChecksCarryNoValues() throws {
    let id = try #require(try service.ask("/status").object()["id"] as? String)
    let events = "/events?lastEventId=\(id.prefix(8))-0"
    for scopes: Set<AccessScope>? in [nil, [.admin]] {
      for media in ["text/event-stream", "application/json"] {
        let text = try text(events, scopes, ["Accept": media])
        #expect(text.contains(Self.redacted) && !text.contains("SECRET"), "\(text)")
      }
    }
    let explained = try text("/targets/api/explain", [.admin])
    #expect(explained.contains(Self.redacted) && !explained.contains("SECRET"), "\(explained)")
    for path in ["/check?target=", "/explain?target="] {
      let text = try text(path + "https%3A%2F%2F10.0.0.9%2Fx%3Fkey%3DSECRET", [.admin])
      #expect(text.contains(Self.redacted) && !text.contains("SECRET"), "\(text)")
    }
    #expect(try text("/check?target=dns://10.0.0.9/a.example?type%3DMX", [.admin]).contains("a.example?type=MX"))
    let now = try service.send("POST", "/targets/api/check", "", headers[[.read, .check]] ?? [:])
    #expect(now.status == 200 && !now.text.contains("SECRET"))
    #expect(try !text("/metrics", nil).contains("SECRET"))
  }

  @Test(arguments: ["/targets", "/targets/api"]) func noTagServesTwoRepresentations(path: String) throws {
    let admin = headers[[.admin]] ?? [:]
    let full = try service.ask(path, admin)
    let redacted = try service.ask(path)
    let tags = [full, redacted].compactMap { $0.headers["ETag"] }
    #expect(tags.count == 2 && tags[0] != tags[1])
    for response in [full, redacted] {
      #expect(response.headers["Vary"]?.hasPrefix("Accept, Authorization, Origin") == true)
      #expect(response.headers["Cache-Control"] == "no-store")
    }
    func status(_ tag: String, _ headers: HTTPHeaders) throws -> Int {
      var headers = headers
      headers["If-None-Match"] = tag
      return try service.ask(path, headers).status
    }
    #expect(try status(tags[0], admin) == 304 && status(tags[1], admin) == 200)
    #expect(try status(tags[0], [:]) == 200 && status(tags[1], [:]) == 304)
    // Nor does a wait for news of what another caller was sent.
    var polling = admin
    polling["If-None-Match"] = tags[1]
    #expect(try service.ask(path + "?wait=30s", polling).status == 200)
  }

  @Test(arguments: ["/targets", "/targets/api"]) func aPollShowsWhatItsClientMaySeeAtTheEnd(path: String) throws {
    let (old, new) = (try AccessPolicyTests.token("a", [.admin]), try AccessPolicyTests.token("b", [.admin]))
    let rules = AccessPolicy.Rules(reads: .open, checks: .token)
    service.service.replaceAccess(AccessPolicy(listeners: [rules], tokens: [old.configured, new.configured]))
    func park(_ headers: HTTPHeaders) throws -> ParkedRequest {
      var headers = headers
      headers["If-None-Match"] = try service.ask(path, headers).headers["ETag"]
      return try service.park(path + "?wait=1m", headers)
    }
    let (revoked, kept) = (try park(old.headers), try park(new.headers))
    service.service.replaceAccess(AccessPolicy(listeners: [rules], tokens: [new.configured]))
    let body = Self.body.replacing("SECRET", with: "NEWSECRET")
    #expect(try service.send("PUT", "/targets/api", body, new.headers).status == 200)
    let answers = (try revoked.waitForAnswer(), try kept.waitForAnswer())
    #expect(answers.0.status == 200 && !answers.0.text.contains("SECRET"), "\(answers.0.text)")
    #expect(answers.1.status == 200 && answers.1.text.contains("NEWSECRET"))
    #expect(answers.0.headers["ETag"] != answers.1.headers["ETag"])
    for request in [revoked, kept] { request.end() }
  }

  @Test func aCheckShowsWhatItsClientMaySeeAtTheEnd() throws {
    let began = Locked(false)
    let gate = DispatchSemaphore(value: 0)
    service.prober.follow { _ in
      began.withLock { $0 = true }
      gate.wait()
      return TargetRoutesTests.result(.down, .httpStatus)
    }
    let answer = Locked<HTTPResponse?>(nil)
    let thread = Thread { [service, headers] in
      let made = try? service.send("POST", "/targets/api/check", "", headers[[.admin]] ?? [:])
      answer.withLock { $0 = made }
    }
    thread.start()
    #expect(eventually { began.withLock(\.self) })
    service.service.replaceAccess(AccessPolicy(listeners: [.init(reads: .open, checks: .token)]))
    gate.signal()
    #expect(eventually { answer.withLock { $0 != nil } })
    let text = answer.withLock { $0?.text ?? "" }
    #expect(text.contains("REDACTED") && !text.contains("SECRET"), "\(text)")
  }

  @Test func theTagOfARedactedAnswerIsAPreconditionToo() throws {
    let tag = try #require(try service.ask("/targets/api").headers["ETag"])
    var writing = headers[[.admin]] ?? [:]
    writing["If-Match"] = tag
    #expect(try service.send("PUT", "/targets/api", Self.body, writing).status == 200)
  }

  @Test func whereWritingIsOpenEveryCallerIsAWriter() throws {
    let open = try ScriptedService()
    open.prober.follow { _ in TargetRoutesTests.result(.up) }
    #expect(try open.send("PUT", "/targets/api", Self.body).status == 201)
    func isFull(_ headers: HTTPHeaders, isLoopbackListener: Bool = true) throws -> Bool {
      try open.ask("/targets/api", headers, isLoopbackListener: isLoopbackListener).text.contains("SECRET")
    }
    #expect(try isFull([:]))
    #expect(try !isFull([:], isLoopbackListener: false))
    // The page of another site may not write, and so reads like one that may not.
    #expect(try !isFull(["Sec-Fetch-Site": "cross-site"]))
  }
}
