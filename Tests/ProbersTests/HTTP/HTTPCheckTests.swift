import Glibc
import Locks
import Probers
import ReachabilityModel
import Testing

private let loopback = ContactPolicy(allow: [IPPrefix(IPAddress(ipv4: 0x7f00_0001), length: 32)])

@Suite("HTTP checks against nginx", .enabled(if: WebServer.isPossible), .serialized)
struct HTTPCheckTests {
  let prober = ProberUnderTest()
  let server: WebServer

  init() throws { server = try WebServer() }

  private func get(
    _ path: String = "/", policy: ContactPolicy? = nil, _ change: (inout HTTPOptions) -> Void = { _ in }
  ) async throws -> CheckResult {
    var options = HTTPOptions()
    change(&options)
    return try await prober.check("http://127.0.0.1:\(server.port)\(path)", .http(options), policy: policy)
  }

  private func secure(
    _ kind: Certificates.Kind, _ path: String = "/", host: String = "localhost",
    _ change: (inout HTTPOptions) -> Void = { _ in }
  ) async throws -> CheckResult {
    var options = HTTPOptions()
    options.tls.authorityFile = server.certificates.authority
    change(&options)
    return try await prober.check("https://\(host):\(server.port(kind))\(path)", .http(options))
  }

  @Test func plainAnswer() async throws {
    let result = try await get()
    #expect(result.state == .up)
    #expect(result.evidence.http == CheckResult.HTTP(status: 200, version: "1.1", bodyBytes: 11, contentLength: 11))
    #expect(result.phases.map(\.name) == [.connect, .processing, .transfer])
    #expect(result.source == IPAddress("127.0.0.1"))
  }

  @Test func statusThatWasNotExpected() async throws {
    let result = try await get("/broken")
    #expect(result.state == .down)
    #expect(result.reason == .httpStatus)
    #expect(result.evidence.http?.status == 503)
    #expect(try await get("/broken") { $0.expectStatus = [200...299, 503...503] }.state == .up)
    #expect(try await get("/") { $0.expectStatus = [404...404] }.reason == .httpStatus)
  }

  @Test func bodyAndHeaders() async throws {
    #expect(try await get("/") { $0.expectBody = "all is .ell" }.state == .up)
    #expect(try await get("/") { $0.expectBody = "maintenance" }.reason == .httpBody)
    #expect(try await get("/") { $0.rejectBody = "well" }.reason == .httpBody)
    #expect(try await get("/") { $0.rejectBody = "maintenance" }.state == .up)
    #expect(try await get("/") { $0.expectHeaders = [.init(name: "x-release", value: "^4\\d$")] }.state == .up)
    #expect(try await get("/") { $0.expectHeaders = [.init(name: "X-Release", value: "^5")] }.reason == .httpBody)
    #expect(try await get("/") { $0.expectHeaders = [.init(name: "X-Missing", value: "")] }.reason == .httpBody)
  }

  @Test func whatIsSent() async throws {
    let plain = try await get("/echo") { $0.expectBody = "^GET  127.0.0.1:\\d+ reachd$" }
    #expect(plain.state == .up)
    let posted = try await get("/echo") {
      $0.method = "POST"
      $0.body = "{}"
      $0.headers = [.init(name: "X-Secret", value: "s3"), .init(name: "Host", value: "api.test")]
      $0.expectBody = "^POST s3 api.test reachd$"
    }
    #expect(posted.state == .up)
    let head = try await get("/") { $0.method = "HEAD" }
    #expect(head.evidence.http?.bodyBytes == 0)
    #expect(head.state == .up)
  }

  @Test("A request has nothing of the one before")
  func requestsAreSeparate() async throws {
    let server = try RawHTTPServer(answer: ScriptedWeb.well)
    let silent = try RawHTTPServer(answer: "SSH-2.0-OpenSSH_9.2\r\n")
    func check(_ server: RawHTTPServer, _ change: (inout HTTPOptions) -> Void = { _ in }) async throws -> CheckResult {
      var options = HTTPOptions()
      change(&options)
      return try await prober.check("http://127.0.0.1:\(server.port)/", .http(options))
    }
    let plain = try await check(server)
    let request = try #require(server.requests.first)
    let others: [(inout HTTPOptions) -> Void] = [
      { $0.method = "HEAD" }, { $0.method = "PUT" }, { $0.body = "{}" }, { $0.version = .http11 },
      { $0.headers = [.init(name: "X-Secret", value: "s3"), .init(name: "Expect", value: "")] },
      { $0.headers = [.init(name: "Accept-Encoding", value: "gzip")] },
    ]
    for other in others {
      _ = try await check(server, other)
      #expect(try await check(server).evidence == plain.evidence)
      #expect(server.requests.last == request)
    }
    #expect(try await check(silent).state == .down)
    #expect(try await secure(.good).phases.map(\.name).contains(.tls))
    #expect(try await check(server).phases.map(\.name) == plain.phases.map(\.name))
    #expect(server.requests.last == request)
  }

  @Test func redirectsAreNotFollowedUnlessAsked() async throws {
    let result = try await get("/moved")
    #expect(result.reason == .httpStatus)
    #expect(result.evidence.http?.status == 302 && result.evidence.redirectTarget == nil)
    let followed = try await get("/moved") { $0.maximumRedirects = 1 }
    #expect(followed.state == .up)
    #expect(followed.evidence.http?.redirects == 1 && followed.evidence.redirectTarget != nil)
    #expect(try await get("/moved-by-name") { $0.maximumRedirects = 1 }.state == .up)
  }

  @Test func redirectsEnd() async throws {
    let result = try await get("/loop") { $0.maximumRedirects = 3 }
    #expect(result.reason == .httpStatus)
    #expect(result.evidence.http?.redirects == 3)
    #expect(try await get("/nowhere") { $0.maximumRedirects = 3 }.reason == .httpStatus)
  }

  @Test("Redirects by status and Location")
  func whatIsARedirect() async throws {
    #expect(try await get("/choices") { $0.maximumRedirects = 1 }.evidence.http?.status == 300)
    #expect(try await get("/spaced") { $0.maximumRedirects = 1 }.state == .up)
    #expect(try await get("/nowhere") { $0.maximumRedirects = 1 }.detail?.contains("ftp") == false)
  }

  @Test("The module's server name is used in the handshake only")
  func nameInTheHandshake() async throws {
    let named = try await secure(.otherName, "/sni") {
      $0.tls.serverName = "other.test"
      $0.expectBody = "^other.test localhost:\\d+$"
    }
    #expect(named.state == .up, "\(named.detail ?? "")")
    let bounced = try await secure(.otherName, "/bounce") {
      $0.tls.serverName = "other.test"
      $0.tls.verify = false
      $0.maximumRedirects = 1
      $0.expectBody = "^other.test localhost:\\d+$"
    }
    #expect(bounced.state == .up, "\(bounced.detail ?? "")")
  }

  @Test("An https check does not read all authorities")
  func readsNoAuthorities() async throws {
    let watch = inotify_init1(Int32(IN_NONBLOCK))
    defer { close(watch) }
    let directory = "/etc/ssl/certs"
    try #require(unsafe inotify_add_watch(watch, directory, UInt32(IN_OPEN)) >= 0)
    #expect(try await secure(.good).state == .up)
    var events = [UInt8](repeating: 0, count: 4_096)
    #expect(unsafe read(watch, &events, events.count) < 0, "some 30 ms for each check, on the thread of all")
    // This server would have received it.
    close(unsafe open("\(directory)/ca-certificates.crt", O_RDONLY))
    #expect(unsafe read(watch, &events, events.count) > 0)
  }

  @Test(
    "A redirect is followed only if the decision permits it",
    arguments: [(ContactDecision.denied, Reason.policyDenied), (.noRoute, .noRoute)])
  func redirectThatMayNotBe(_ decision: ContactDecision, _ reason: Reason) async throws {
    var options = HTTPOptions()
    options.maximumRedirects = 1
    let request = CheckRequest(
      try CheckTarget("http://127.0.0.1:\(server.port)/moved"),
      module: CheckModule(name: "test", options: .http(options))
    )
    let asked = Locked(0)
    let results = Results()
    prober.prober.check(
      request,
      where: { _, _ in
        asked.withLock { count in
          count += 1
          return count == 1 ? .allowed : decision
        }
      }, results.take)
    let result = try #require(try await results.wait(for: 1).first)
    #expect(result.reason == reason && asked.withLock(\.self) == 2)
  }

  @Test("The policy applies to redirects")
  func redirectToMetadata() async throws {
    let result = try await get("/metadata", policy: loopback) { $0.maximumRedirects = 3 }
    #expect(result.state == .unknown)
    #expect(result.reason == .policyDenied)
    #expect(try await get("/hidden", policy: loopback) { $0.maximumRedirects = 3 }.reason == .policyDenied)
    #expect(try await get("/moved", policy: loopback) { $0.maximumRedirects = 3 }.state == .up)
  }

  @Test("The caller's fields follow redirects to the same origin")
  func redirectWithHeaders() async throws {
    let result = try await get("/bounce") {
      $0.maximumRedirects = 1
      $0.method = "POST"
      $0.body = "x"
      $0.headers = [.init(name: "X-Secret", value: "s3")]
      $0.expectBody = "^GET s3 127"
    }
    #expect(result.state == .up)
  }

  @Test func redirectsToAndFromTLS() async throws {
    let upwards = try await get("/secure") {
      $0.maximumRedirects = 1
      $0.tls.authorityFile = server.certificates.authority
    }
    #expect(upwards.state == .up)
    #expect(upwards.evidence.tls?.names.contains("localhost") == true)
    var options = HTTPOptions()
    options.maximumRedirects = 3
    options.tls.authorityFile = server.certificates.authority
    let downwards = try await prober.check("https://localhost:\(server.port(.good))/down", .http(options))
    #expect(downwards.reason == .httpStatus)
    #expect(downwards.detail?.contains("scheme") == true)
  }

  @Test(arguments: ["localhost", "127.0.0.1"])
  func goodCertificate(host: String) async throws {
    let result = try await secure(.good, host: host)
    #expect(result.state == .up)
    #expect(result.evidence.http?.version == "2")
    #expect(result.evidence.tls?.version == "TLSv1.3")
    #expect(result.evidence.tls?.cipher.isEmpty == false)
    #expect(result.phases.map(\.name).suffix(4) == [.connect, .tls, .processing, .transfer])
  }

  @Test(arguments: [
    (Certificates.Kind.expired, Reason.certificateExpired), (.early, .certificateExpired),
    (.otherName, .certificateNameMismatch), (.selfSigned, .certificateUntrusted),
  ])
  func badCertificate(kind: Certificates.Kind, reason: Reason) async throws {
    let result = try await secure(kind)
    #expect(result.state == .down)
    #expect(result.reason == reason)
    #expect(result.evidence.tls?.earliestExpiry != nil, "told of a certificate that is refused, too")
    #expect(result.evidence.http == nil, "no request was sent")
    #expect(try await secure(kind) { $0.tls.verify = false }.state == .up)
  }

  @Test func theSystemDoesNotTrustOurAuthority() async throws {
    #expect(try await secure(.good) { $0.tls.authorityFile = nil }.reason == .certificateUntrusted)
  }

  @Test func plainServerAskedForTLS() async throws {
    let result = try await prober.check("https://127.0.0.1:\(server.port)/")
    #expect(result.state == .down)
    #expect(result.reason == .tlsHandshake)
  }

  @Test func manyAtOnce() async throws {
    let results = Results()
    for _ in 0..<200 { prober.prober.check(try request("http://127.0.0.1:\(server.port)/"), results.take) }
    #expect(try await results.wait(for: 200).allSatisfy { $0.state == .up })
  }

  @Test("Proxies of the environment are ignored")
  func noProxy() async throws {
    unsafe setenv("http_proxy", "http://127.0.0.1:1", 1)
    defer { unsafe unsetenv("http_proxy") }
    #expect(try await get().state == .up)
  }
}
