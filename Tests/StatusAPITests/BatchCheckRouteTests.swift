import EventStreams
import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import StatusAPI

/// `POST /checks` over a scripted prober.
@Suite struct BatchCheckRouteTests {
  let service: ScriptedService

  init() throws {
    service = try ScriptedService()
    service.prober.follow { request in
      CheckResult(
        request.target.port == 1 ? .down : .up, request.target.port == 1 ? .refused : nil,
        address: IPAddress("10.0.0.9"), startedAt: Timestamp(microseconds: 0), duration: .milliseconds(1))
    }
  }

  private func post(_ body: String, _ headers: HTTPHeaders = ["Content-Type": "application/json"]) throws
    -> HTTPResponse
  {
    try service.ask("/checks", headers, method: "POST", body: Array(body.utf8))
  }

  @Test func resultsKeepTheOrderOfTheRequest() throws {
    let answer = try post(#"["tcp://10.0.0.9:1", {"target": "tcp://10.0.0.9:2", "timeout": "1s", "count": 2}]"#)
    #expect(answer.status == 200)
    let results = try #require(try answer.object()["results"] as? [[String: Any]])
    #expect(results.map { $0["state"] as? String } == ["down", "up"])
    #expect((results[1]["results"] as? [Any])?.count == 2)
  }

  @Test func configuredModuleReplacesABuiltInModule() throws {
    let own = CheckModule(name: "tcp_connect", options: .tcp(TCPOptions(send: "PING\r\n", expect: "PONG")))
    let plan = try CheckPlan(.init(target: "tcp://10.0.0.9:2"), modules: ["tcp_connect": own], policy: nil)
    #expect(plan.requests.map(\.module) == [own])
  }

  @Test(arguments: [("51", "5s"), ("100", "9900ms"), ("2", "100ms")])
  func echoesBeyondTheTimeoutAreRejected(count: String, timeout: String) throws {
    let wish = CheckPlan.Parameters(target: "icmp://10.0.0.9", timeout: timeout, count: count)
    let refusal = #expect(throws: CheckPlan.InvalidParameters.self) {
      try CheckPlan(wish, modules: CheckPlan.builtInModules, policy: nil)
    }
    #expect(refusal?.description.hasSuffix("reduce count, or increase timeout") == true)
    var longer = wish
    longer.timeout = "10s"
    #expect(throws: Never.self) { try CheckPlan(longer, modules: CheckPlan.builtInModules, policy: nil) }
  }

  @Test func streamedResultsArriveAsTheyComplete() throws {
    let headers: HTTPHeaders = ["Content-Type": "application/json", "Accept": "application/x-ndjson"]
    let answer = try post(#"["tcp://10.0.0.9:1", "tcp://10.0.0.9:2", "tcp://10.0.0.9:1"]"#, headers)
    #expect(answer.headers["Content-Type"] == "application/x-ndjson")
    // One that fails ends when the kernel was asked about its way, elsewhere.
    #expect(eventually { answer.text.split(separator: "\n").count == 3 })
    let lines = answer.text.split(separator: "\n")
    #expect(lines.allSatisfy { $0.hasPrefix("{\"target\":\"tcp://10.0.0.9:") && $0.hasSuffix("}") })
    guard case .stream(let stream) = answer.body else { throw Failure() }
    #expect(stream.endsAfter == 3)
  }

  @Test func streamedLineMayBeLong() throws {
    let headers: HTTPHeaders = ["Content-Type": "application/json", "Accept": "application/x-ndjson"]
    let long = String(repeating: "\u{1}long", count: 10_000)
    service.prober.follow { request in
      CheckResult(
        .down, .refused, detail: request.target.port == 2 ? long : nil, startedAt: Timestamp(microseconds: 1),
        duration: .zero)
    }
    let answer = try post(#"["tcp://10.0.0.9:1", "tcp://10.0.0.9:2", "tcp://10.0.0.9:2", "tcp://10.0.0.9:1"]"#, headers)
    #expect(eventually { answer.text.split(separator: "\n").count == 4 })
    let lines = answer.text.split(separator: "\n")
    #expect(lines.count == 4 && lines.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
    #expect(lines.filter { $0.contains("longlong") || $0.contains("long\\u0001long") }.count == 2)
  }

  @Test func tooManyChecksAreRejected() throws {
    let wish = #"{"target": "tcp://db:2", "count": "10", "ip": "both"}"#
    let body = "[" + Array(repeating: wish, count: 51).joined(separator: ",") + "]"
    let answer = try post(body)
    #expect(answer.status == 400 && answer.headers["Retry-After"] == nil)
    #expect(answer.text.contains("the request has 1020 checks"))
    #expect(service.prober.requests.isEmpty)
  }

  @Test(arguments: [("4", "::1"), ("6", "10.0.0.5")])
  func familyMustMatchTheSourceAddress(ip: String, source: String) throws {
    let wish = CheckPlan.Parameters(target: "tcp://db:2", ip: ip, source: source)
    #expect(throws: CheckPlan.InvalidParameters.self) {
      try CheckPlan(wish, modules: CheckPlan.builtInModules, policy: nil)
    }
    let both = CheckPlan.Parameters(target: "tcp://db:2", ip: "both", source: source)
    let plan = try CheckPlan(both, modules: CheckPlan.builtInModules, policy: nil)
    #expect(plan.requests.map(\.family) == [ip == "4" ? .ipv6 : .ipv4])
  }

  @Test func disconnectedClientStartsNoMoreChecks() throws {
    service.prober.follow(nil)
    let wish = CheckPlan.Parameters(target: "tcp://10.0.0.9:2", count: "3")
    let plan = try CheckPlan(wish, modules: CheckPlan.builtInModules, policy: nil)
    let checker = Checker(monitor: service.monitor, prober: service.prober)
    let run = plan.run(checker) { _ in Issue.record("no caller waits") }
    #expect(service.prober.open.count == 1)
    run.cancel()
    #expect(service.prober.open.isEmpty)
    #expect(service.prober.requests.count == 1)
  }

  @Test func checksOfOneElementTakeTenMinutesAtMost() throws {
    #expect(try post(#"[{"target": "tcp://10.0.0.9:2", "count": "10", "timeout": "60s"}]"#).status == 200)
    let tooLong = #"[{"target": "tcp://db:2", "count": "10", "timeout": "60s", "ip": "both"}]"#
    #expect(try post(tooLong).status == 422)
  }

  @Test(arguments: [
    (#"{"target": "tcp://a:1"}"#, 400), ("[]", 400), ("[", 400), ("", 400), (#"["tcp://a"]"#, 422),
    (#"["tcp://a:1", 5, {"target": "tcp://a:1", "x": 1}, {"target": ["a"]}, {}]"#, 422),
  ])
  func invalidElementIsRejectedWithItsPointer(body: String, status: Int) throws {
    let answer = try post(body)
    #expect(answer.status == status)
    #expect(service.prober.requests.isEmpty)
    guard status == 422 else { return }
    let errors = try #require(try answer.object()["errors"] as? [[String: String]])
    let places = errors.compactMap { $0["pointer"] }
    #expect(places == (body.contains("5") ? ["/1", "/2", "/3", "/4"] : ["/0"]))
    #expect(errors.allSatisfy { $0["detail"]?.isEmpty == false })
  }

  @Test func otherContentTypeIsRejected() throws {
    #expect(try post("[]", ["Content-Type": "text/plain"]).status == 415)
    #expect(try post("[]", [:]).status == 415)
    #expect(try post(#"["tcp://10.0.0.9:2"]"#, ["Content-Type": "Application/JSON; charset=utf-8"]).status == 200)
  }

  @Test func arrayLengthIsLimited() throws {
    let many = "[" + Array(repeating: "\"tcp://10.0.0.9:2\"", count: 1_001).joined(separator: ",") + "]"
    #expect(try post(many).status == 400)
    let most = "[" + Array(repeating: "\"tcp://10.0.0.9:2\"", count: 1_000).joined(separator: ",") + "]"
    #expect(try post(most).status == 200)
    #expect(try post(most).status == 429)
  }

  private struct Failure: Error {}
}
