import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// `GET /targets/{id}/explain` over a scripted prober.
@Suite struct TargetExplanationTests {
  let service: ScriptedService

  init() throws {
    service = try ScriptedService()
    service.prober.follow { _ in TargetRoutesTests.result(.down, .refused) }
  }

  /// The verdict of each step by its name.
  private func steps(_ id: String) throws -> [String: String] {
    let steps = try #require(try service.ask("/targets/\(id)/explain").object()["steps"] as? [[String: Any]])
    return Dictionary(
      uniqueKeysWithValues: try steps.map {
        (try #require($0["step"] as? String), try #require($0["verdict"] as? String))
      })
  }

  @Test func configuredTargetIsExplainedAlthoughClientsMayNotContactIt() throws {
    var spec = TargetSpec()
    (spec.id, spec.target) = ("own", "tcp://127.0.0.1:9")
    service.service.schedule.put(try spec.definition(), origin: .configuration)
    try service.wait(for: "own", toBe: "down")
    #expect(try service.ask("/explain?target=tcp://127.0.0.1:9").object()["reason"] as? String == "policyDenied")
    let body = try service.ask("/targets/own/explain").object()
    #expect(body["reason"] as? String == "refused")
    #expect((body["answer"] as? [String: Any])?["step"] as? String == "tcp")
  }

  @Test func explanationIsThatOfTheLastCheck() throws {
    _ = try service.send("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:5432", "interval": "24h"}"#)
    try service.wait(for: "db", toBe: "down")
    let count = service.prober.requests.count
    let own = try service.ask("/targets/db/explain")
    let text = try service.ask("/targets/db/explain", ["Accept": "text/plain"]).text
    #expect(service.prober.requests.count == count, "no check is made")
    #expect(try own.text == service.ask("/explain?target=tcp://10.0.0.9:5432").text)
    #expect(try text == service.ask("/explain?target=tcp://10.0.0.9:5432", ["Accept": "text/plain"]).text)
  }

  @Test func lossOfTheRouteSinceTheLastCheckIsExplained() throws {
    service.prober.follow { _ in TargetRoutesTests.result(.up) }
    _ = try service.send("PUT", "/targets/far", #"{"target": "tcp://198.41.0.4:53", "interval": "24h"}"#)
    try service.wait(for: "far", toBe: "up")
    #expect(try steps("far") == ["link": "pass", "address": "pass", "route": "pass", "tcp": "pass"])
    service.kernel.change { $0.removeDefaults(.ipv4) }
    service.kernel.advance(by: .seconds(1))
    try service.wait(for: "far", toBe: "unreachable")
    #expect(try service.ask("/targets/far/explain").object()["reason"] as? String == "noRoute")
    let lost = try steps("far")
    #expect(lost["route"] == "fail" && lost["tcp"] == "notReached", "\(lost)")
  }

  @Test func readersMayExplain() throws {
    let reader = try AccessPolicyTests.token("reader", [.read])
    let guarded = try AccessPolicyTests.service(.init(reads: .token, checks: .token), [reader.configured])
    var spec = TargetSpec()
    (spec.id, spec.target) = ("db", "tcp://10.0.0.9:5432")
    guarded.service.schedule.put(try spec.definition(), origin: .configuration)
    #expect(try guarded.ask("/targets/db/explain", reader.headers).status == 200)
    #expect(try guarded.ask("/explain?target=tcp://10.0.0.9:5432", reader.headers).status == 403)
    #expect(try guarded.ask("/targets/db/explain").status == 401)
  }

  @Test func pausedAndUnknownTargetsAreRefused() throws {
    _ = try service.send("PUT", "/targets/db", #"{"target": "tcp://10.0.0.9:5432", "paused": true}"#)
    #expect(try service.problem("/targets/db/explain") == "conflict")
    #expect(try service.problem("/targets/none/explain") == "notFound")
    #expect(try service.problem("/targets/DB/explain") == "badRequest")
  }
}
