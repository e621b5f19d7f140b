import DequeModule
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

/// `/targets/{id}` over a scripted prober.
@Suite struct TargetRoutesTests {
  let service: ScriptedService

  init() throws {
    service = try ScriptedService()
    service.prober.follow { _ in Self.result(.up) }
  }

  static func result(_ state: CheckResult.State, _ reason: Reason? = nil) -> CheckResult {
    CheckResult(
      state, reason, address: IPAddress("10.0.0.9"), startedAt: Timestamp(microseconds: 0), duration: .milliseconds(1))
  }

  private func ask(
    _ method: String, _ target: String, _ body: String = "", _ headers: HTTPHeaders = [:]
  ) throws -> HTTPResponse {
    try service.send(method, target, body, headers)
  }

  @Test func targetIsCreatedReadChangedAndDeleted() throws {
    let made = try ask("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:1", "labels": {"env": "prod"}}"#)
    #expect(made.status == 201 && made.headers["Location"] == "/targets/db")
    let tag = try #require(made.headers["ETag"])
    try service.wait(for: "db", toBe: "up")
    let read = try ask("GET", "/targets/db")
    #expect(
      read.definitionTag == made.definitionTag, "a state is no change of the definition")
    let body = try read.object()
    #expect(body["id"] as? String == "db" && body["target"] as? String == "tcp://10.0.0.9:1")
    #expect(body["module"] as? String == "tcp_connect" && body["origin"] as? String == "runtime")
    #expect(body["labels"] as? [String: String] == ["env": "prod"])
    #expect(body["intervalSeconds"] as? Double == 30 && body["timeoutSeconds"] as? Double == 5)
    let check = try #require(body["lastCheck"] as? [String: Any])
    #expect(check["state"] as? String == "up" && check["address"] as? String == "10.0.0.9")
    let changed = try ask("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:1", "fall": 5}"#)
    #expect(changed.status == 200 && changed.headers["ETag"] != tag)
    #expect(try changed.object()["fall"] as? Int == 5)
    #expect(try changed.object()["state"] as? String == "up", "the question is the same, and so is the answer")
    let gone = try ask("DELETE", "/targets/db")
    #expect(gone.status == 204 && gone.bytes.isEmpty)
    #expect(try ask("GET", "/targets/db").status == 404)
    #expect(try ask("DELETE", "/targets/db").status == 404)
  }

  @Test func documentCanBePutBack() throws {
    _ = try ask("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:1", "interval": "7s", "paused": true}"#)
    let read = try ask("GET", "/targets/db")
    let again = try ask("PUT", "/targets/db", read.text, ["If-Match": read.headers["ETag"] ?? ""])
    #expect(again.status == 200)
    #expect(again.definitionTag == read.definitionTag, "nothing has changed")
    #expect(again.text == read.text)
  }

  @Test func failedPreconditionChangesNothing() throws {
    let body = #"{"target": "tcp://10.0.0.9:1"}"#
    let other = #"{"target": "tcp://10.0.0.8:1"}"#
    #expect(try ask("PUT", "/targets/db", body, ["If-Match": "*"]).status == 412)
    #expect(try ask("DELETE", "/targets/db", "", ["If-Match": "\"00000000-1\""]).status == 404)
    let made = try ask("PUT", "/targets/db", body, ["If-None-Match": "*"])
    #expect(made.status == 201)
    let tag = try #require(made.headers["ETag"])
    #expect(try ask("PUT", "/targets/db", body, ["If-None-Match": "*"]).status == 412)
    let changed = try ask("PUT", "/targets/db", other, ["If-Match": "\"00000000-9\", \(tag)"])
    #expect(changed.status == 200)
    for stale in [tag, "W/" + (changed.headers["ETag"] ?? ""), "\"x\"", "db", ""] {
      let answer = try ask("PUT", "/targets/db", body, ["If-Match": stale])
      #expect(answer.status == 412, "\(stale)")
      #expect(try answer.object()["code"] as? String == "preconditionFailed")
      #expect(try ask("DELETE", "/targets/db", "", ["If-Match": stale]).status == 412)
    }
    #expect(try ask("GET", "/targets/db").object()["target"] as? String == "tcp://10.0.0.8:1")
    #expect(try ask("DELETE", "/targets/db", "", ["If-Match": "*"]).status == 204)
  }

  @Test func preconditionsCombineAndAcceptTagLists() throws {
    let body = #"{"target": "tcp://10.0.0.9:1"}"#
    let made = try ask("PUT", "/targets/db", body)
    let tag = try #require(made.headers["ETag"])
    let refused: [HTTPHeaders] = [
      ["If-None-Match": tag], ["If-None-Match": "W/" + tag], ["If-None-Match": "\"x\", \(tag)"],
      ["If-None-Match": "\"x\", *"], ["If-Match": "*", "If-None-Match": "*"],
      ["If-Match": tag, "If-None-Match": tag], ["If-Match": "\"x\"", "If-None-Match": "\"x\""],
    ]
    for headers in refused {
      for method in ["PUT", "DELETE"] {
        #expect(try ask(method, "/targets/db", method == "PUT" ? body : "", headers).status == 412, "\(headers)")
      }
      for verb in ["pause", "resume"] {
        #expect(try ask("POST", "/targets/db/\(verb)", "", headers).status == 412, "\(headers)")
      }
    }
    #expect(try ask("GET", "/targets/db").definitionTag == made.definitionTag, "nothing has happened")
    for headers: HTTPHeaders in [["If-None-Match": "\"x\""], ["If-Match": tag, "If-None-Match": "\"x\""]] {
      #expect(try ask("PUT", "/targets/db", body, headers).status == 200, "\(headers)")
    }
    #expect(try ask("POST", "/targets/db/pause", "", ["If-Match": tag]).status == 200)
    #expect(try ask("POST", "/targets/db/resume", "", ["If-Match": tag]).status == 412, "it has another by now")
  }

  @Test func listAndStreamAgree() throws {
    _ = try ask("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:1"}"#)
    try service.wait(for: "db", toBe: "up")
    // A state is visible before its event is published.
    func isPublished() throws -> Bool {
      try service.ask("/events", ["Accept": "application/json"]).array().contains { $0["to"] as? String == "up" }
    }
    #expect(try eventually { try isPublished() })
    let position = try #require(try ask("GET", "/targets").headers["Last-Event-ID"])
    #expect(try ask("GET", "/targets/db").headers["Last-Event-ID"] == position)
    _ = try ask("PUT", "/targets/late", #"{"target": "tcp://10.0.0.9:2", "paused": true}"#)
    _ = try ask("PUT", "/targets/late", #"{"target": "tcp://10.0.0.9:2", "paused": true, "labels": {"a": "b"}}"#)
    _ = try ask("DELETE", "/targets/db")
    let events = try service.ask("/events?lastEventId=\(position)", ["Accept": "application/json"]).array()
    let told = events.map { event in
      let target = event["target"] as? [String: Any]
      return [
        target?["id"] as? String, event["from"] as? String, event["to"] as? String,
        (event["removed"] as? Bool).map { "\($0)" }, (target?["labels"] as? [String: String])?["a"],
      ]
    }
    #expect(
      told == [
        ["late", "paused", "paused", "false", nil], ["late", "paused", "paused", "false", "b"],
        ["db", "up", "up", "true", nil],
      ])
    #expect(events.allSatisfy { $0["cause"] as? [String] == ["configuration"] })
  }

  @Test func removedModuleStaysValidForItsTargets() throws {
    let own = CheckModule(name: "own", options: .tcp(TCPOptions()))
    service.service.change(to: .init { $0.modules = [own] })
    _ = try ask("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:1", "module": "own"}"#)
    service.service.change(to: .init())
    let read = try ask("GET", "/targets/db")
    #expect(try ask("PUT", "/targets/db", read.text).definitionTag == read.definitionTag)
    let results = try service.send("POST", "/targets", "[\(read.text)]").object()["results"] as? [[String: Any]]
    #expect(results?.first?["status"] as? Int == 200)
    #expect(try ask("PUT", "/targets/other", #"{"target": "tcp://10.0.0.9:1", "module": "own"}"#).status == 422)
  }

  @Test func targetIsPausedResumedAndChecked() throws {
    _ = try ask("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:1", "interval": "24h"}"#)
    try service.wait(for: "db", toBe: "up")
    service.prober.follow { _ in Self.result(.down, .refused) }
    let checks = service.prober.requests.count
    let checked = try ask("POST", "/targets/db/check").object()
    #expect(service.prober.requests.count == checks + 1)
    #expect(checked["pending"] as? Bool == true && checked["state"] as? String == "up", "one of three that it takes")
    #expect((checked["lastCheck"] as? [String: Any])?["reason"] as? String == "refused")
    #expect(try ask("POST", "/targets/db/pause").object()["state"] as? String == "paused")
    #expect(try ask("POST", "/targets/db/pause").status == 200, "twice is no mistake")
    let refused = try ask("POST", "/targets/db/check")
    #expect(refused.status == 409)
    #expect(try refused.object()["code"] as? String == "conflict")
    service.prober.follow { _ in Self.result(.up) }
    #expect(try ask("POST", "/targets/db/resume").object()["paused"] as? Bool == false)
    try service.wait(for: "db", toBe: "up")
    for verb in ["check", "pause", "resume"] { #expect(try ask("POST", "/targets/missing/\(verb)").status == 404) }
  }

  @Test func deletedTargetEndsItsRunningCheck() throws {
    service.prober.follow(nil)
    _ = try ask("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:1"}"#)
    let request = HTTPRequest(
      method: "POST", target: "/targets/db/check", headers: ["Host": "localhost"], isLoopbackListener: true)
    guard case .later(let start) = service.router.handle(request) else {
      Issue.record("it does not wait")
      return
    }
    let inbox = try HTTPServerInbox()
    start(HTTPPromise(inbox: inbox, connection: 1, request: 1))
    #expect(eventually { !service.prober.open.isEmpty })
    _ = try ask("DELETE", "/targets/db")
    var answer: HTTPResponse?
    #expect(
      eventually {
        for case .reply(_, _, let response) in inbox.take().messages { answer = response }
        return answer != nil
      })
    #expect(answer?.status == 409)
  }

  @Test func configuredTargetCanOnlyBePaused() throws {
    try service.service.schedule.configure([TargetDefinition(id: "db", target: try CheckTarget("tcp://10.0.0.9:1"))])
    for answer in [
      try ask("PUT", "/targets/db", #"{"target": "tcp://10.0.0.8:1"}"#), try ask("DELETE", "/targets/db"),
    ] {
      #expect(answer.status == 409)
      #expect(try (answer.object()["detail"] as? String)?.contains("configuration file") == true)
    }
    let paused = try ask("POST", "/targets/db/pause").object()
    #expect(paused["state"] as? String == "paused" && paused["origin"] as? String == "configuration")
  }

  @Test func deniedAddressIsNotRegistered() throws {
    for target in ["tcp://127.0.0.1:22", "http://169.254.169.254/", "icmp://10.0.0.5", "dns://[::1]/a"] {
      let answer = try ask("PUT", "/targets/db", #"{"target": "\#(target)"}"#)
      #expect(answer.status == 403, "\(target)")
      #expect(try answer.object()["code"] as? String == "policyDenied")
    }
    #expect(service.service.schedule.count == 0)
    // A way is only looked up.
    #expect(try ask("PUT", "/targets/db", #"{"target": "route://127.0.0.1"}"#).status == 201)
  }

  @Test func pathAndBodyIDMustMatch() throws {
    for id in ["DB", "a%2Fb", "a%20b", String(repeating: "a", count: 69), "%C3%A9"] {
      #expect(try ask("GET", "/targets/\(id)").status == 400, "\(id)")
      #expect(try ask("PUT", "/targets/\(id)", #"{"target": "tcp://10.0.0.9:1"}"#).status == 400, "\(id)")
    }
    let answer = try ask("PUT", "/targets/db", #"{"id": "other", "target": "tcp://10.0.0.9:1"}"#)
    #expect(answer.status == 422)
    #expect(try answer.pointers() == ["/id"])
    #expect(try ask("PUT", "/targets/db", #"{"id": "db", "target": "tcp://10.0.0.9:1"}"#).status == 201)
  }
}

extension ScriptedService {
  /// Sends a body as JSON.
  func send(
    _ method: String, _ target: String, _ body: String = "", _ headers: HTTPHeaders = [:]
  ) throws -> HTTPResponse {
    var headers = headers
    if !body.isEmpty, headers["Content-Type"] == nil { headers["Content-Type"] = "application/json" }
    return try ask(target, headers, method: method, body: Array(body.utf8))
  }

  /// Waits until a registered target is in a state.
  func wait(for id: String, toBe state: String) throws {
    #expect(try eventually { try ask("/targets/\(id)").object()["state"] as? String == state }, "\(id) is not \(state)")
  }
}

extension HTTPResponse {
  /// The part of a target's tag that tells its definition, which no check changes meanwhile.
  var definitionTag: Substring? { headers["ETag"]?.prefix { $0 != "." } }

  /// The places that a problem document names.
  func pointers() throws -> [String] {
    (try object()["errors"] as? [[String: Any]])?.compactMap { $0["pointer"] as? String } ?? []
  }
}
