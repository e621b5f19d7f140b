import Credentials
import EmbeddedHTTPServer
import EventStreams
@testable import HTTPRouting
import NetworkReachability
import Testing

@testable import StatusAPI

/// Who may ask what.
@Suite struct AccessPolicyTests {
  /// A token, and how it is configured.
  static func token(
    _ id: String, _ scopes: Set<AccessScope>, expires: Timestamp? = nil
  ) throws -> (headers: HTTPHeaders, configured: AccessToken) {
    let token = try #require(BearerToken.make(id: id))
    let digest = try #require(token.digest)
    return (
      ["Authorization": "Bearer \(token.text)"],
      AccessToken(id: id, digest: digest, scopes: scopes, expires: expires)
    )
  }

  static func service(_ rules: AccessPolicy.Rules, _ tokens: [AccessToken] = []) throws -> ScriptedService {
    try ScriptedService(.wired, .init { $0.access = AccessPolicy(listeners: [rules], tokens: tokens) })
  }

  /// Every route under a rule of its scope, asked as a function.
  static func outcome(
    _ scope: AccessScope?, _ rules: AccessPolicy.Rules = .init(), _ tokens: [AccessToken] = [],
    _ headers: HTTPHeaders = [:],
    isLoopbackListener: Bool = true, origins: Set<String> = []
  ) -> Problem? {
    do throws(Problem) {
      try RequestAuthorization.authorize(
        HTTPRequest(headers: headers, isLoopbackListener: isLoopbackListener), scope, listener: 0,
        AccessPolicy(listeners: [rules], tokens: tokens), OriginPolicy(allowed: origins))
      return nil
    } catch {
      return error
    }
  }

  // MARK: - Reads

  @Test func readsNeedNoTokenByDefault() throws {
    let service = try ScriptedService()
    for path in RouterTests.paths {
      #expect(try service.ask(path, isLoopbackListener: false).status == 200, "\(path)")
    }
  }

  @Test func configuredReadsNeedATokenAndHealthDoesNot() throws {
    let reader = try Self.token("reader", [.read])
    let service = try Self.service(.init(reads: .token), [reader.configured])
    for route in RouteTable.declarations where route.method == "GET" {
      guard
        let path = RouterTests.paths.first(where: {
          route.match($0.dropFirst().split(separator: "/", omittingEmptySubsequences: false)) != nil
        })
      else { continue }
      let without = try service.ask(path)
      #expect(without.status == (route.scope == nil ? 200 : 401), "\(path)")
      #expect(try service.ask(path, reader.headers).status == 200, "\(path)")
      guard route.scope == .read else { continue }
      #expect(without.headers["WWW-Authenticate"] == "Bearer realm=\"reachd\", scope=\"read\"")
      #expect(try without.object()["code"] as? String == "unauthorized")
      #expect(try service.ask(path, method: "HEAD").status == 401)
      #expect(try service.ask(path, method: "OPTIONS").status == 204)
    }
    #expect(
      RouteTable.declarations.filter { $0.scope == nil }.map(\.pattern) == [
        "/", "/livez", "/readyz", "/readyz/{check}", "/healthz", "/openapi.yaml", "/page/{build}/{file}",
      ])
  }

  @Test func unknownPathAnswers404BeforeAuthorization() throws {
    let service = try Self.service(.init(reads: .token), [try Self.token("a", [.read]).configured])
    #expect(try service.ask("/nothing").status == 404)
    #expect(try service.ask("/status", method: "POST").status == 405)
  }

  // MARK: - Tokens

  @Test func partialTokenIsRejected() throws {
    let (headers, configured) = try Self.token("reader", [.read])
    let good = try #require(headers["Authorization"])
    func status(_ field: String?) throws -> Int {
      var headers = HTTPHeaders()
      headers["Authorization"] = field
      return try Self.service(.init(reads: .token), [configured]).ask("/status", headers).status
    }
    #expect(try status(good) == 200)
    #expect(try status("bEARER" + good.dropFirst(6)) == 200)
    // RFC 9110, section 11.4: one or more spaces.
    #expect(try status("Bearer  " + good.dropFirst(7)) == 200)
    let last = good.hasSuffix("0") ? "1" : "0"
    let wrong: [String?] = [
      nil, "", "Bearer", "Bearer ", good + "0", String(good.dropLast()), good.dropLast() + last,
      "Basic " + good.dropFirst(7), String(good.dropFirst(7)), good.replacing("reader", with: "writer"),
      good.replacing("rx_", with: "ry_"), good + ", " + good, good.uppercased(),
      "Bearer \(configured.digest.hexadecimal)", "Bearer rx_reader_\(configured.digest.hexadecimal)",
    ]
    for field in wrong { #expect(try status(field) == 401, "\(field ?? "")") }
  }

  @Test func invalidTokenAnswersInvalidToken() throws {
    let configured = try Self.token("a", [.read]).configured
    let unknown = try Self.token("b", [.read]).headers
    let problem = try #require(Self.outcome(.read, .init(reads: .token), [configured], unknown))
    #expect(problem.status == 401)
    #expect(
      problem.headers["WWW-Authenticate"] == "Bearer realm=\"reachd\", error=\"invalid_token\", scope=\"read\"")
  }

  @Test func expiredTokenIsRejected() throws {
    let now = Timestamp.now.microseconds
    for (expires, status) in [(now - 1, 401), (now + 3_600_000_000, 200)] {
      let token = try Self.token("a", [.read], expires: Timestamp(microseconds: expires))
      let service = try Self.service(.init(reads: .token), [token.configured])
      #expect(try service.ask("/status", token.headers).status == status)
    }
  }

  @Test func twoTokensWithOneIDAreBothValid() throws {
    let (old, new) = (try Self.token("a", [.read]), try Self.token("a", [.read]))
    let service = try Self.service(.init(reads: .token), [old.configured, new.configured])
    #expect(try service.ask("/status", old.headers).status == 200)
    #expect(try service.ask("/status", new.headers).status == 200)
    service.service.replaceAccess(AccessPolicy(listeners: [.init(reads: .token)], tokens: [new.configured]))
    #expect(try service.ask("/status", old.headers).status == 401)
    #expect(try service.ask("/status", new.headers).status == 200)
  }

  @Test func streamsArePermittedByTheirToken() throws {
    let (old, new) = (try Self.token("a", [.read]), try Self.token("a", [.read]))
    let service = try Self.service(.init(reads: .token), [old.configured, new.configured])
    func permission(_ headers: HTTPHeaders) throws -> (@Sendable () -> Bool)? {
      guard case .stream(let stream) = try service.ask("/events", headers).body else {
        Issue.record("no stream")
        return nil
      }
      return stream.isPermitted
    }
    let streams = try [old, new].map { try #require(try permission($0.headers)) }
    #expect(streams.map { $0() } == [true, true])
    let now = Timestamp.now.microseconds
    var expired = new.configured
    expired.expires = Timestamp(microseconds: now - 1)
    for (tokens, expected) in [
      ([new.configured], [false, true]), ([expired], [false, false]),
      ([old.configured, new.configured], [true, true]),
    ] {
      service.service.replaceAccess(AccessPolicy(listeners: [.init(reads: .token)], tokens: tokens))
      #expect(streams.map { $0() } == expected)
    }
    service.service.replaceAccess(AccessPolicy(listeners: [.init(reads: .open)]))
    #expect(streams.map { $0() } == [true, true])
    let withoutToken = try #require(try permission([:]))
    #expect(withoutToken())
    service.service.replaceAccess(AccessPolicy(listeners: [.init(reads: .token)], tokens: [new.configured]))
    #expect(!withoutToken())
  }

  @Test func scopeGrantsItselfAndAdminGrantsAll() throws {
    for scope in AccessScope.allCases {
      for wanted in AccessScope.allCases {
        let (token, other) = (try Self.token("a", [scope]), try Self.token("b", [wanted]))
        let problem = Self.outcome(
          wanted, .init(reads: .token, checks: .token), [token.configured, other.configured], token.headers)
        let isOpen = scope == wanted || scope == .admin
        #expect(problem?.status == (isOpen ? nil : 403), "\(scope) for \(wanted)")
        guard !isOpen else { continue }
        #expect(problem?.headers["WWW-Authenticate"]?.contains("insufficient_scope") == true)
        #expect(problem?.detail.contains(wanted.rawValue) == true)
      }
    }
  }

  // MARK: - What does more than read

  @Test func checksAreOpenOnLoopbackOnlyByDefault() {
    for scope in [AccessScope.check, .targetsWrite] {
      #expect(Self.outcome(scope) == nil)
      let closed = Self.outcome(scope, isLoopbackListener: false)
      #expect(closed?.status == 403)
      #expect(closed?.detail.contains("access.checks: open") == true)
      #expect(closed?.detail.contains("reachd token create --scope \(scope.rawValue)") == true)
      #expect(Self.outcome(scope, .init(checks: .open), isLoopbackListener: false) == nil)
      #expect(Self.outcome(scope, .init(checks: .token))?.status == 403)
    }
    #expect(Self.outcome(.admin)?.status == 403)
    #expect(Self.outcome(.admin, .init(checks: .open))?.status == 403)
  }

  @Test func checkNeedsATokenWhenOneIsConfigured() throws {
    let token = try Self.token("a", [.check])
    #expect(Self.outcome(.check, .init(), [token.configured], isLoopbackListener: false)?.status == 401)
    #expect(Self.outcome(.check, .init(), [token.configured], token.headers, isLoopbackListener: false) == nil)
  }

  @Test func eachListenerHasItsOwnRules() throws {
    let service = try ScriptedService(
      .wired, .init { $0.access = AccessPolicy(listeners: [.init(), .init(reads: .token)]) })
    let request = HTTPRequest(target: "/status", headers: ["Host": "127.0.0.1"])
    func status(_ listener: Int) -> Int? {
      guard case .now(let response) = service.router.handle(request, listener: listener) else { return nil }
      return response.status
    }
    #expect([status(0), status(1), status(2)] == [200, 403, 200])
  }

  // MARK: - Foreign pages

  @Test(arguments: [
    ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Origin": "https://evil.example"],
    ["Origin": "null"], ["Origin": "http://127.0.0.1:3000"],
  ])
  func crossSiteRequestStartsNoCheck(headers: HTTPHeaders) {
    var headers = headers
    headers["Host"] = "127.0.0.1:8080"
    for scope in AccessScope.allCases where scope.isActive {
      let problem = Self.outcome(scope, .init(checks: .open), [], headers)
      #expect(problem?.status == 403)
      #expect(problem?.detail.contains("allowedOrigins") == true)
    }
    #expect(Self.outcome(.read, .init(), [], headers) == nil)
    #expect(Self.outcome(nil, .init(), [], headers) == nil)
  }

  @Test(arguments: [
    [:], ["Sec-Fetch-Site": "same-origin"], ["Sec-Fetch-Site": "none"], ["Origin": "http://127.0.0.1:8080"],
    ["Origin": "https://dash.example", "Sec-Fetch-Site": "cross-site"],
  ])
  func sameOriginAndAllowedOriginsMayCheck(headers: HTTPHeaders) {
    var headers = headers
    headers["Host"] = "127.0.0.1:8080"
    #expect(Self.outcome(.check, .init(), [], headers, origins: ["https://dash.example"]) == nil)
  }

  @Test func corsHeadersNameOnlyTheAllowedOrigin() throws {
    let service = try ScriptedService(.wired, .init { $0.allowedOrigins = ["https://dash.example"] })
    for path in RouterTests.paths + ["/nothing", "/status?x=1", "/hosts/localhost"] {
      let allowed = try service.ask(path, ["Origin": "https://dash.example"])
      #expect(allowed.headers["Access-Control-Allow-Origin"] == "https://dash.example", "\(path)")
      #expect(allowed.headers["Access-Control-Expose-Headers"]?.contains("ETag") == true)
      for origin in ["https://evil.example", "https://dash.example.evil", "http://dash.example", "*", "null", ""] {
        #expect(try service.ask(path, ["Origin": origin]).headers["Access-Control-Allow-Origin"] == nil)
      }
      #expect(try service.ask(path).headers["Access-Control-Allow-Origin"] == nil)
    }
    let body = try service.ask("/status", ["Origin": "https://dash.example"])
    #expect(body.bytes == (try service.ask("/status").bytes))
    #expect(body.headers["Access-Control-Allow-Credentials"] == nil)
  }

  @Test func preflightIsAnsweredForAllowedOriginsOnly() throws {
    let service = try ScriptedService(.wired, .init { $0.allowedOrigins = ["https://dash.example"] })
    let question: HTTPHeaders = [
      "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization",
      "Access-Control-Request-Private-Network": "true",
    ]
    var asked = question
    asked["Origin"] = "https://dash.example"
    let answer = try service.ask("/status", asked, method: "OPTIONS")
    #expect(answer.status == 204)
    #expect(answer.headers["Access-Control-Allow-Origin"] == "https://dash.example")
    #expect(answer.headers["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS")
    #expect(answer.headers["Access-Control-Allow-Headers"]?.contains("Authorization") == true)
    // Some libraries for event streams send it.
    #expect(answer.headers["Access-Control-Allow-Headers"]?.contains("Cache-Control") == true)
    #expect(answer.headers["Access-Control-Allow-Private-Network"] == "true")
    asked["Origin"] = "https://evil.example"
    let refused = try service.ask("/status", asked, method: "OPTIONS")
    #expect(!refused.headers.contains { $0.name.hasPrefix("Access-Control") })
    #expect(!answer.headers.contains { $0.value == "*" })
  }

  @Test func everyResponseHasSecurityHeaders() throws {
    let service = try ScriptedService()
    let answers = try (RouterTests.paths + ["/nothing", "/status?x", "/status?require=reachable", "/hosts/localhost"])
      .flatMap { path in try ["GET", "OPTIONS", "POST", "HEAD"].map { try service.ask(path, method: $0) } }
    let refusal = service.router.environment.refusal(
      RequestRefusal(rule: .host, status: 400, detail: "Because."), of: nil)
    for answer in answers + [refusal] {
      #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
      #expect(answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'")
      #expect(answer.headers["Cross-Origin-Resource-Policy"] == "same-origin")
    }
  }
}
