import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import EmbeddedHTTPServer
@testable import StatusAPI

/// `GET /check` and `GET /explain` over a scripted prober.
@Suite struct SingleCheckRoutesTests {
  let service: ScriptedService
  init() throws { service = try ScriptedService() }

  private func answers(
    _ state: CheckResult.State, _ reason: Reason? = nil, _ address: String? = "10.0.0.9",
    _ phases: [CheckResult.Phase] = [], detail: String? = nil
  ) {
    service.prober.follow { _ in
      CheckResult(
        state, reason, detail: detail, address: address.flatMap { IPAddress($0) },
        startedAt: Timestamp(microseconds: 0), duration: .microseconds(1_500), phases: phases)
    }
  }

  @Test func respondingTargetIsUp() throws {
    answers(.up, nil, "10.0.0.9", [.init(.connect, .microseconds(1_000))])
    let body = try service.ask("/check?target=TCP://10.0.0.9:5432").object()
    #expect(body["target"] as? String == "TCP://10.0.0.9:5432")
    #expect(body["state"] as? String == "up")
    #expect(body["reason"] is NSNull)
    #expect(body["durationSeconds"] as? Double == 0.0015)
    #expect((body["phases"] as? [String: Double]) == ["connect": 0.001])
    #expect((body["vantage"] as? [String: String]) == ["interface": "eth0", "source": "10.0.0.5"])
    #expect(body["results"] == nil)
    let text = try service.ask("/check?target=tcp://10.0.0.9:5432", ["Accept": "text/plain"]).text
    #expect(text == "up tcp://10.0.0.9:5432 10.0.0.9 1.500 ms\n")
  }

  @Test func downTargetAnswers200UnlessUpIsRequired() throws {
    answers(.down, .refused)
    #expect(try service.ask("/check?target=tcp://10.0.0.9:1").status == 200)
    let required = try service.ask("/check?target=tcp://10.0.0.9:1&require=up")
    #expect(required.status == 503)
    #expect(try required.object()["reason"] as? String == "refused")
  }

  @Test func eachAddressIsReported() throws {
    service.prober.follow { _ in
      var result = CheckResult(
        .up, address: IPAddress("10.0.0.9"), startedAt: Timestamp(microseconds: 0), duration: .milliseconds(251))
      result.evidence.attempts = [
        CheckResult.Attempt(
          IPAddress(ipv4: 0x0A00_0008), .down, .refused, detail: "Connection refused", duration: .milliseconds(1)),
        CheckResult.Attempt(
          IPAddress(ipv4: 0x0A00_0009), .up, startedAfter: .milliseconds(1), duration: .milliseconds(250),
          phases: [.init(.connect, .milliseconds(250))]),
      ]
      return result
    }
    let body = try service.ask("/check?target=tcp://db:1").object()
    let attempts = try #require(body["attempts"] as? [[String: Any]])
    #expect(attempts.map { $0["address"] as? String } == ["10.0.0.8", "10.0.0.9"])
    #expect(attempts.map { $0["state"] as? String } == ["down", "up"])
    #expect(attempts.map { $0["reason"] as? String } == ["refused", nil])
    #expect(attempts[0]["detail"] as? String == "Connection refused" && attempts[0]["phases"] == nil)
    #expect(attempts[1]["startedAfterSeconds"] as? Double == 0.001)
    #expect(attempts[1]["phases"] as? [String: Double] == ["connect": 0.25])
  }

  @Test func eachAddressIsChargedToTheClient() throws {
    service.prober.follow { _ in
      var result = CheckResult(.up, address: IPAddress("10.0.0.9"), startedAt: .init(microseconds: 0), duration: .zero)
      result.evidence.attempts = (0..<UInt32(2_000)).map { CheckResult.Attempt(IPAddress(ipv4: 0x0A00_0000 + $0), .up) }
      return result
    }
    #expect(try service.ask("/check?target=tcp://db:1").status == 200)
    let later = try service.ask("/check?target=tcp://db:2")
    #expect(later.status == 429 && later.headers["Retry-After"] != nil)
  }

  @Test func allResultsAreReported() throws {
    service.prober.follow { request in
      let isSix = request.family == .ipv6
      return CheckResult(
        isSix ? .down : .up, isSix ? .refused : nil, address: IPAddress(isSix ? "::1" : "127.0.0.1"),
        startedAt: Timestamp(microseconds: 0), duration: .zero)
    }
    let body = try service.ask("/check?target=tcp://localhost:1&ip=both").object()
    // There is no way to ::1 on this machine.
    #expect(body["state"] as? String == "unreachable")
    let results = try #require(body["results"] as? [[String: Any]])
    #expect(results.map { $0["state"] as? String } == ["up", "unreachable"])
    #expect(try service.ask("/check?target=tcp://localhost:1&count=3").object()["results"] is [Any])
    #expect(service.prober.requests.count == 5)
    // An address has one family.
    #expect(try service.ask("/check?target=tcp://10.0.0.9:1&ip=both").object()["state"] as? String == "up")
    #expect(service.prober.requests.count == 6)
  }

  @Test(
    "A target that the module cannot check is a failed probe with the module's series",
    arguments: [
      ("tcp_connect", "http://10.0.0.9/", "probe_failed_due_to_regex 0"),
      ("tcp_connect", "10.0.0.9", "probe_ip_protocol 0"),
      ("http_2xx", "tcp://10.0.0.9:80", "probe_http_status_code 0"), ("icmp", "10.0.0.9:x", "probe_ip_addr_hash 0"),
    ])
  func invalidProbeTarget(module: String, target: String, series: String) throws {
    let service = try ScriptedService(.wired)
    let response = try service.ask("/probe?target=\(target)&module=\(module)")
    #expect(response.status == 200, "\(response.text)")
    for line in ["probe_success 0", series, #"probe_failure_info{reason="badTarget",state="unknown"} 1"#] {
      #expect(response.text.contains(line + "\n"), "\(response.text)")
    }
    #expect(service.prober.requests.isEmpty)
  }

  @Test(
    "hostname is the name of the host for HTTP and TLS",
    arguments: [
      ("http_2xx", "10.0.0.9:80", "www.example.org"), ("tls_connect", "10.0.0.9:443", "www.example.org"),
      ("tcp_connect", "10.0.0.9:80", nil), ("icmp", "10.0.0.9", nil),
    ])
  func hostname(module: String, target: String, expected: String?) throws {
    answers(.up)
    let response = try service.ask("/probe?target=\(target)&module=\(module)&hostname=www.example.org")
    #expect(response.status == 200)
    #expect(service.prober.requests.map(\.hostname) == [expected])
    #expect(service.prober.requests.first?.target.host.host == "10.0.0.9")
  }

  @Test(arguments: ["a%20b", "a/b", "%2A", "[::1]", "a.b:80", "a%0d%0aX:1"])
  func aHostnameThatIsNoName(text: String) throws {
    let response = try service.ask("/probe?target=10.0.0.9:80&module=http_2xx&hostname=\(text)")
    #expect(response.status == 400 && service.prober.requests.isEmpty, "\(response.text)")
  }

  @Test("Only /probe follows redirects with the built-in HTTP module")
  func redirectsForProbe() throws {
    answers(.up)
    _ = try service.ask("/probe?target=10.0.0.9:80&module=http_2xx")
    _ = try service.ask("/check?target=http://10.0.0.9:80")
    let followed = service.prober.requests.map { request -> Int? in
      guard let options = request.module.options[HTTPOptions.self] else { return nil }
      return options.maximumRedirects
    }
    #expect(followed == [10, 0])
  }

  @Test func queryParametersReachTheProber() throws {
    answers(.up)
    _ = try service.ask("/check?target=icmp://10.0.0.9&count=3&timeout=300ms&source=10.0.0.5&interface=eth0&ip=4")
    let request = try #require(service.prober.requests.first)
    guard let options = request.module.options[ICMPOptions.self] else { throw TestFailure() }
    #expect(options.count == 3)
    #expect(request.timeout == .milliseconds(300))
    #expect(request.source == IPAddress("10.0.0.5"))
    #expect(request.interface == "eth0")
    #expect(request.family == .ipv4)
    #expect(request.policy?.own.contains(try #require(IPAddress("10.0.0.5"))) == true)
  }

  @Test(arguments: [
    ("/check", "badTarget"), ("/check?target=ftp://a", "badTarget"), ("/check?target=tcp://a", "badTarget"),
    ("/check?target=tcp://a:1&count=0", "badRequest"), ("/check?target=tcp://a:1&count=11", "badRequest"),
    ("/check?target=icmp://a&count=101", "badRequest"), ("/check?target=icmp://a&count=51", "badRequest"),
    ("/check?target=tcp://a:1&timeout=0s", "badRequest"),
    ("/check?target=tcp://a:1&timeout=61s", "badRequest"), ("/check?target=tcp://a:1&timeout=1e9s", "badRequest"),
    ("/check?target=tcp://a:1&ip=5", "badRequest"), ("/check?target=tcp://10.0.0.9:1&ip=6", "badRequest"),
    ("/check?target=tcp://[2001:db8::1]:1&ip=4", "badRequest"), ("/check?target=tcp://a:1&module=icmp", "badRequest"),
    ("/check?target=tcp://a:1&module=none", "badRequest"), ("/check?target=tcp://a:1&maxAge=2h", "badRequest"),
    ("/check?target=tcp://a:1&require=down", "badRequest"), ("/check?target=tcp://a:1&x=1", "unknownParameter"),
    ("/check?target=tcp://a:1&source=x", "badTarget"), ("/check?target=tcp://a:1&interface=a/b", "badTarget"),
    ("/explain?target=", "badTarget"), ("/explain?target=tcp://a:1&count=2", "unknownParameter"),
  ])
  func invalidParametersAreRejectedBeforeSending(target: String, code: String) throws {
    #expect(try service.problem(target) == code)
    #expect(service.prober.requests.isEmpty)
  }

  @Test func policyDenialRevealsNothing() throws {
    answers(.unknown, .policyDenied, nil)
    let response = try service.ask("/check?target=http://metadata.internal/")
    #expect(response.status == 403)
    #expect(try response.object()["code"] as? String == "policyDenied")
    #expect(!response.text.contains("metadata"))
  }

  @Test func aProbeOfATargetThatIsDeniedIsForbidden() throws {
    answers(.unknown, .policyDenied, nil)
    let response = try service.ask("/probe?target=metadata.internal:80&module=http_2xx")
    #expect(response.status == 403)
    #expect(try response.object()["code"] as? String == "policyDenied")
    #expect(!response.text.contains("metadata"))
  }

  @Test func aProbeWhoseRedirectIsDeniedHasFailed() throws {
    service.prober.follow { _ in
      var evidence = CheckResult.Evidence()
      evidence.http = CheckResult.HTTP(status: 302, version: "1.1", isRedirect: true)
      return CheckResult(
        .unknown, .policyDenied, startedAt: Timestamp(microseconds: 0), duration: .zero, evidence: evidence)
    }
    let response = try service.ask("/probe?target=a.internal:80&module=http_2xx")
    #expect(response.status == 200 && response.text.contains("\nprobe_success 0\n"))
  }

  @Test func aDenialByAddressIsTheModulesWhereItsHostsDependOnIt() throws {
    let module = CheckModule(
      name: "m", options: .tcp(TCPOptions(send: "secret")), access: .hosts([try HostPattern("tcp://10.0.0.0/8:1")]))
    let service = try ScriptedService(.wired, .init { $0.modules = [module] })
    service.prober.follow { _ in
      CheckResult(.unknown, .policyDenied, startedAt: Timestamp(microseconds: 0), duration: .zero)
    }
    for route in ["/check", "/probe"] {
      #expect(try service.problem("\(route)?target=tcp://db:1&module=m") == "moduleDenied")
    }
    #expect(service.prober.requests.count == 2)
    #expect(try service.problem("/check?target=tcp://192.0.2.1:1&module=m") == "moduleDenied")
    #expect(service.prober.requests.count == 2)
  }

  @Test func checkNeedsItsScopeOnNonLoopbackListeners() throws {
    let response = try service.ask("/check?target=tcp://10.0.0.9:1", ["Host": "10.0.0.5"], isLoopbackListener: false)
    #expect(response.status == 403)
    #expect(service.prober.requests.isEmpty)
    let foreign = try service.ask("/check?target=tcp://10.0.0.9:1", ["Sec-Fetch-Site": "cross-site"])
    #expect(foreign.status == 403)
  }

  @Test func checkRateIsLimitedPerClient() throws {
    answers(.up)
    var statuses: [Int] = []
    for _ in 0..<120 { statuses.append(try service.ask("/check?target=tcp://10.0.0.9:1&count=10").status) }
    #expect(statuses.prefix(100).allSatisfy { $0 == 200 })
    #expect(statuses.contains(429))
    #expect(try service.ask("/check?target=tcp://10.0.0.9:1", peer: "10.0.0.77:1").status == 200)
  }

  @Test func ipv6PrefixCountsAsOneClient() throws {
    answers(.up)
    let peers = (0..<200).map { number in "[2001:db8:1:2::\(String(number, radix: 16))]:1" }
    let statuses = try peers.map { try service.ask("/check?target=tcp://10.0.0.9:1&count=10", peer: $0).status }
    #expect(statuses.contains(429))
    #expect(try service.ask("/check?target=tcp://10.0.0.9:1", peer: "[2001:db8:1:3::1]:1").status == 200)
    #expect(try service.ask("/check?target=tcp://10.0.0.9:1", peer: "[::ffff:10.0.0.7]:1").status == 200)
  }

  @Test func limiterEvictsIdleClientsFirst() {
    let rateLimiter = CheckRateLimiter()
    let start = ContinuousClock.now
    #expect(rateLimiter.consume(1_000, client: "greedy", now: start) == nil)
    for number in 0..<2_000 {
      #expect(rateLimiter.consume(1, client: "\(number)", now: start + .milliseconds(100 * number)) == nil)
      if number < 150 {
        #expect(rateLimiter.consume(1_000, client: "greedy", now: start + .milliseconds(100 * number)) != nil)
      }
    }
  }

  @Test func explanationNamesTheFirstFailedStep() throws {
    answers(.down, .refused)
    let body = try service.ask("/explain?target=tcp://10.0.0.9:5432").object()
    #expect((body["answer"] as? [String: Any])?["step"] as? String == "tcp")
    let steps = try #require(body["steps"] as? [[String: Any]])
    #expect(steps.map { $0["step"] as? String } == ["link", "address", "route", "tcp"])
    #expect(steps.map { $0["verdict"] as? String } == ["pass", "pass", "pass", "fail"])
    let text = try service.ask("/explain?target=tcp://10.0.0.9:5432", ["Accept": "text/plain"]).text
    #expect(text.hasPrefix("tcp://10.0.0.9:5432 is down: refused\n  ok   link     eth0 is up\n"))
    #expect(text.contains("\n  FAIL tcp      10.0.0.9:5432: refused\n       try "))
  }

  @Test func explanationShowsDetailWithoutAFailedStep() throws {
    answers(.unknown, .cancelled, detail: "too many open files")
    let body = try service.ask("/explain?target=tcp://10.0.0.9:5432").object()
    #expect(body["answer"] is NSNull)
    #expect(body["detail"] as? String == "too many open files")
    let text = try service.ask("/explain?target=tcp://10.0.0.9:5432", ["Accept": "text/plain"]).text
    #expect(text.hasPrefix("tcp://10.0.0.9:5432 is unknown: cancelled, too many open files\n  -    link"))
  }

  @Test func explanationStopsAtAMissingRoute() throws {
    service.kernel.change { $0.removeDefaults(.ipv4) }
    let body = try service.ask("/explain?target=https://198.41.0.4/").object()
    #expect((body["answer"] as? [String: Any])?["step"] as? String == "route")
    let steps = try #require(body["steps"] as? [[String: Any]])
    #expect(
      steps.map { $0["verdict"] as? String } == ["pass", "pass", "fail", "notReached", "notReached", "notReached"])
  }

  private struct TestFailure: Error {}
}
