import ReachabilityModel
import TestSupport
import Testing

/// Where the prober itself holds callers to the hosts of a module: at the addresses of names, and at redirects.
@Suite struct ModuleAccessTests {
  private let prober = ProberUnderTest()
  private let policy = ContactPolicy(allow: [IPPrefix(IPAddress(ipv4: 0x7f00_0000), length: 8)])

  private func check(_ target: String, _ options: HTTPOptions, _ hosts: [String]) async throws -> CheckResult {
    let module = CheckModule(
      name: "m", options: .http(options), access: .hosts(try hosts.map { try HostPattern($0) }))
    return try await prober.check(CheckRequest(try CheckTarget(target), module: module, policy: policy))
  }

  private var carrier: HTTPOptions {
    var options = HTTPOptions()
    options.headers = [.init(name: "X-Secret", value: "s3")]
    options.maximumRedirects = 5
    return options
  }

  @Test func aNameIsJudgedByItsAddress() async throws {
    let web = try ScriptedWeb(["/": ScriptedWeb.well])
    let target = "http://localhost:\(web.port)/"
    let denied = try await check(target, carrier, ["http://10.0.0.0/8:\(web.port)"])
    #expect(denied.state == .unknown && denied.reason == .policyDenied && denied.address == nil)
    #expect(denied.duration == .zero && web.requests.isEmpty)
    #expect(try await check(target, carrier, ["http://127.0.0.0/8:\(web.port)"]).state == .up)
    #expect(web.requests.count == 1 && web.requests.first?.has(field: "X-Secret") == true)
  }

  @Test func aTargetOutsideTheHostsIsNotContacted() async throws {
    let web = try ScriptedWeb(["/": ScriptedWeb.well])
    let result = try await check("http://127.0.0.1:\(web.port)/", carrier, ["http://api.internal:\(web.port)"])
    #expect(result.reason == .policyDenied && web.requests.isEmpty)
  }

  @Test func aRedirectIsJudgedByTheAddressOfItsName() async throws {
    let other = try ScriptedWeb(["/": ScriptedWeb.well])
    let web = try ScriptedWeb(["/": ScriptedWeb.redirect(302, "http://localhost:\(other.port)/")])
    let own = "http://127.0.0.1:\(web.port)"
    let denied = try await check("\(own)/", carrier, [own, "http://10.0.0.0/8:\(other.port)"])
    #expect(denied.state == .down && denied.reason == .httpStatus && other.requests.isEmpty)
    #expect(denied.detail == "the redirect leads to a host that the hosts of the module do not include")
    #expect(try await check("\(own)/", carrier, [own, "http://127.0.0.0/8:\(other.port)"]).state == .up)
    #expect(other.requests.first?.has(field: "X-Secret") == false)
  }

  @Test func aRedirectThatThePolicyDeniesKeepsTheAnswerThatRedirected() async throws {
    let web = try ScriptedWeb(["/": ScriptedWeb.redirect(302, "http://169.254.169.254/latest")])
    var options = HTTPOptions()
    options.maximumRedirects = 5
    let request = CheckRequest(
      try CheckTarget("http://127.0.0.1:\(web.port)/"), module: CheckModule(name: "m", options: .http(options)),
      policy: policy)
    let result = try await prober.check(request)
    #expect(result.state == .unknown && result.reason == .policyDenied)
    #expect(result.evidence.http?.status == 302 && result.evidence.http?.isRedirect == true)
    #expect(result.address == nil && result.duration == .zero && result.phases.isEmpty)
  }

  @Test func aRedirectOnTheSameServerCarriesTheFields() async throws {
    let web = try ScriptedWeb(["/": ScriptedWeb.redirect(307, "/next"), "/next": ScriptedWeb.well])
    let own = "http://127.0.0.1:\(web.port)"
    #expect(try await check("\(own)/", carrier, [own]).state == .up)
    #expect(web.requests.map { $0.has(field: "X-Secret") } == [true, true])
  }
}
