import Credentials
import Foundation
import EmbeddedHTTPServer
@testable import HTTPRouting
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@testable import StatusAPI

/// The limits of targets and checks, over the service's answers.
@Suite struct QuotaTests {
  /// A service whose callers have a limited token and one without limits.
  struct Limited {
    let service: ScriptedService
    let ci: HTTPHeaders
    let free: HTTPHeaders

    init(_ limits: AccountLimits, all: ScheduleLimits = .init()) throws {
      let one = try AccessPolicyTests.token("ci", [.targetsWrite, .check])
      let other = try AccessPolicyTests.token("free", [.admin])
      (ci, free) = (one.headers, other.headers)
      var all = all
      all.tokens["ci"] = limits
      service = try ScriptedService(
        .wired,
        .init {
          $0.access = AccessPolicy(listeners: [.init(checks: .token)], tokens: [one.configured, other.configured])
          $0.limits = all
        })
      service.prober.follow { _ in TargetRoutesTests.result(.up) }
    }

    func put(_ id: String, _ headers: HTTPHeaders) throws -> HTTPResponse { try put(id, "", headers) }

    func put(_ id: String, _ more: String, _ headers: HTTPHeaders) throws -> HTTPResponse {
      try service.send("PUT", "/targets/\(id)", #"{"target": "tcp://10.0.0.9:1"\#(more)}"#, headers)
    }
  }

  private func refused(_ response: HTTPResponse, _ words: String...) throws {
    #expect(response.status == 403)
    #expect(try response.object()["code"] as? String == "quotaExceeded")
    let detail = try #require(try response.object()["detail"] as? String)
    for word in words { #expect(detail.contains(word), "\(detail)") }
  }

  @Test func aTokenHasItsPlacesAndOthersHaveTheirs() throws {
    let limited = try Limited(.init(targets: 2))
    for id in ["a", "b"] { #expect(try limited.put(id, limited.ci).status == 201) }
    try refused(try limited.put("c", limited.ci), "2 targets", "the token ci", "limits.targets of the token")
    #expect(try limited.put("a", #", "fall": 9"#, limited.ci).status == 200)
    #expect(try limited.put("c", limited.free).status == 201)
    try refused(try limited.put("c", #", "fall": 2"#, limited.ci), "2 targets")
    #expect(try limited.service.send("DELETE", "/targets/a", "", limited.ci).status == 204)
    #expect(try limited.put("c", #", "fall": 2"#, limited.ci).status == 200)
    try refused(try limited.put("a", limited.ci), "2 targets")
  }

  @Test func manyAtOnceAreJudgedOneByOne() throws {
    let limited = try Limited(.init(targets: 2))
    let items = (0..<4).map { #"{"id": "t\#($0)", "target": "tcp://10.0.0.9:1"}"# }.joined(separator: ",")
    let response = try limited.service.send("POST", "/targets", "[\(items)]", limited.ci)
    let results = try #require(try response.object()["results"] as? [[String: Any]])
    #expect(results.map { $0["status"] as? Int } == [201, 201, 403, 403])
    #expect(results[3]["code"] as? String == "quotaExceeded")
    let single = #"{"id": "x", "target": "tcp://10.0.0.9:1"}"#
    try refused(try limited.service.send("POST", "/targets", single, limited.ci), "2 targets")
  }

  @Test func anIntervalCannotBecomeShorterThanTheMinimum() throws {
    let limited = try Limited(.init(minimumInterval: .seconds(10)))
    #expect(try limited.put("a", #", "interval": "10s""#, limited.ci).status == 201)
    try refused(try limited.put("a", #", "interval": "9s""#, limited.ci), "10s", "minimumInterval")
    #expect(try limited.service.ask("/targets/a").object()["intervalSeconds"] as? Double == 10)
    #expect(try limited.put("b", #", "interval": "1s""#, limited.free).status == 201)
  }

  @Test func pausedTargetsKeepTheirShare() throws {
    let limited = try Limited(.init(checksPerSecond: 1))
    #expect(try limited.put("a", #", "interval": "1s", "paused": true"#, limited.ci).status == 201)
    try refused(try limited.put("b", #", "interval": "24h""#, limited.ci), "checks a second", "checksPerSecond")
    #expect(try limited.service.send("POST", "/targets/a/resume", "", limited.ci).status == 200)
    #expect(try limited.service.send("POST", "/targets/a/pause", "", limited.free).status == 200)
    #expect(try limited.put("a", #", "interval": "2s""#, limited.ci).status == 200)
    #expect(try limited.put("b", #", "interval": "2s""#, limited.ci).status == 201)
  }

  @Test func checksOnDemandHaveWhatTheScheduleLeaves() throws {
    let limited = try Limited(.init(checksPerSecond: 2))
    #expect(try limited.put("a", #", "interval": "1s", "paused": true"#, limited.ci).status == 201)
    let check = "/check?target=tcp://10.0.0.9:1"
    #expect(try limited.service.ask(check, limited.ci).status == 200)
    let refusal = try limited.service.ask(check, limited.ci)
    #expect(refusal.status == 429 && refusal.headers["Retry-After"] == "1")
    #expect(try refusal.object()["code"] as? String == "rateLimited")
    try refused(try limited.service.ask(check + "&count=2", limited.ci), "2 checks a second")
    #expect(try limited.service.ask(check, limited.free).status == 200)
  }

  @Test func callersWithoutATokenShareTheLimitsOfAll() throws {
    let service = try ScriptedService(.wired, .init { $0.limits = .init(targets: 1, checksPerSecond: 1) })
    service.prober.follow { _ in TargetRoutesTests.result(.up) }
    #expect(try service.send("PUT", "/targets/a", #"{"target": "tcp://10.0.0.9:1", "interval": "24h"}"#).status == 201)
    try refused(
      try service.send("PUT", "/targets/b", #"{"target": "tcp://10.0.0.9:1"}"#), "1 targets", "limits.targets")
    let first = try service.ask("/check?target=tcp://10.0.0.9:1", peer: "10.0.0.1:1")
    let second = try service.ask("/check?target=tcp://10.0.0.9:1", peer: "10.0.0.2:1")
    #expect([first.status, second.status].contains(429))
  }

  @Test func repeatedChangesBringNoMoreChecksThanTheRate() throws {
    let limited = try Limited(.init(checksPerSecond: 1))
    for number in 0..<50 {
      let more = #", "interval": "\#(3600 + number)s""#
      #expect(try limited.put("a", more, limited.ci).status < 300)
    }
    let modules = limited.service.service.schedule.statistics.modules
    #expect(modules.values.reduce(0) { $0 + Int($1.durations.count) } <= 2)
  }

  @Test func changesAboveTheRateAreRefused() throws {
    let limited = try Limited(.init(changesPerSecond: 1))
    #expect(try limited.put("a", limited.ci).status == 201)
    var number = 0
    /// Repeats changes until one is refused; the bound leaves room for the changes that a second allows.
    func untilRefused(_ change: () throws -> HTTPResponse) throws -> HTTPResponse {
      for _ in 0..<2 * ScheduleLimits.changeBurst {
        number += 1
        let response = try change()
        if response.status >= 300 { return response }
      }
      return try change()
    }
    func put() throws -> HTTPResponse { try limited.put("a", #", "labels": {"n": "\#(number)"}"#, limited.ci) }
    let refusals = [
      try untilRefused(put),
      try untilRefused {
        try limited.service.send("POST", "/targets/a/\(number % 2 == 0 ? "pause" : "resume")", "", limited.ci)
      },
      try untilRefused {
        let response = try limited.service.send("DELETE", "/targets/a", "", limited.ci)
        if response.status == 204 { #expect(try limited.put("a", limited.ci).status == 201) }
        return response
      },
    ]
    for refusal in refusals {
      #expect(refusal.status == 429 && refusal.headers["Retry-After"] == "1", "\(refusal.text)")
      #expect(try refusal.object()["code"] as? String == "rateLimited")
      let detail = try refusal.object()["detail"] as? String
      #expect(detail?.contains("limits.changesPerSecond of the token") == true, "\(detail ?? "")")
    }
    let batch = try untilRefused {
      let item = #"[{"id": "a", "target": "tcp://10.0.0.9:1", "labels": {"n": "\#(number)"}}]"#
      let response = try limited.service.send("POST", "/targets", item, limited.ci)
      let results = try #require(try response.object()["results"] as? [[String: Any]])
      return results.first?["status"] as? Int == 429 ? HTTPResponse(status: 429) : response
    }
    #expect(batch.status == 429)
    #expect(try limited.put("b", limited.ci).status == 201, "the number of new targets has a limit of its own")
    #expect(try limited.put("b", limited.ci).status == 200, "an equal definition changes nothing")
    #expect(try limited.put("a", #", "fall": 9"#, limited.free).status == 200, "other accounts have their own rate")
  }

  @Test func withoutMemoryNothingIsRegistered() throws {
    let limited = try Limited(.init(), all: .init(memory: QuotaMemoryBudget(limit: 32 << 20)))
    try refused(try limited.put("a", limited.free), "32 MiB", "memory.max")
    #expect(limited.service.service.schedule.reports().isEmpty)
  }

  @Test func theLimitsAreMetrics() throws {
    let limited = try Limited(.init(), all: .init(targets: 7, memory: QuotaMemoryBudget(limit: 128 << 20)))
    #expect(try limited.put("a", #", "interval": "4s""#, limited.free).status == 201)
    let page = try limited.service.ask("/metrics").text
    for line in [
      "reachd_targets_limit 7", "reachd_scheduled_checks_per_second 0.25", "reachd_checks_per_second_limit 10000",
      "reachd_targets_memory_limit_bytes 62914560",
    ] { #expect(page.contains(line + "\n"), "\(line)") }
  }
}
