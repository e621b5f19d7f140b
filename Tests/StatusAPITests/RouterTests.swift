import EmbeddedHTTPServer
@testable import HTTPRouting
import Testing

@testable import StatusAPI

@Suite struct RouterTests {
  static let paths = [
    "/", "/status", "/hosts/default", "/interfaces", "/events", "/livez", "/readyz", "/readyz/kernel", "/healthz",
    "/openapi.yaml",
  ]

  @Test(arguments: paths)
  func headMatchesGet(path: String) throws {
    let service = try ScriptedService()
    let (head, get) = (try service.ask(path, method: "HEAD"), try service.ask(path))
    #expect(head.status == 200)
    #expect(head.headers["Content-Type"] == get.headers["Content-Type"])
    #expect(head.headers["ETag"] == get.headers["ETag"])
  }

  @Test(arguments: paths)
  func optionsAnswersAllow(path: String) throws {
    let response = try ScriptedService().ask(path, method: "OPTIONS")
    #expect(response.status == 204)
    #expect(response.headers["Allow"] == "GET, HEAD, OPTIONS")
    #expect(response.bytes.isEmpty)
  }

  @Test func optionsAsteriskListsAllMethods() throws {
    let response = try ScriptedService().ask("*", method: "OPTIONS")
    #expect(response.status == 204)
    let allowed = try #require(response.headers["Allow"]).split(separator: ",").map { $0.filter { $0 != " " } }
    #expect(Set(allowed) == Set(RouteTable.declarations.map(\.method)).union(["HEAD", "OPTIONS"]))
    #expect(allowed.count == Set(allowed).count)
  }

  @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "TRACE", "get", "BREW"])
  func otherMethodsAnswer405WithAllow(method: String) throws {
    let response = try ScriptedService().ask("/status", method: method)
    #expect(response.status == 405)
    #expect(response.headers["Allow"] == "GET, HEAD, OPTIONS")
    #expect(try response.object()["code"] as? String == "methodNotAllowed")
  }

  @Test(arguments: [
    "/nothing", "/status/", "/status//", "//status", "/Status", "/hosts", "/hosts/a/b", "/livez/kernel", "/%73tatus",
    "/openapi.yml", "/readyz/", "/readyz/disk", "//", "/status/..", "/events/1",
  ])
  func unknownPathAnswers404(path: String) throws {
    let response = try ScriptedService().ask(path)
    #expect(response.status == 404)
    let problem = try response.object()
    #expect(problem["code"] as? String == "notFound")
    #expect((problem["detail"] as? String)?.contains("; ") == true, "it names what exists")
    #expect(try ScriptedService().ask(path, method: "OPTIONS").status == (path.hasPrefix("/readyz/") ? 204 : 404))
  }

  @Test(arguments: [
    ("/status?x=1", "unknownParameter"), ("/status?Require=reachable", "unknownParameter"),
    ("/interfaces?verbose", "unknownParameter"), ("/status?=", "unknownParameter"),
    ("/readyz/kernel?verbose", "unknownParameter"), ("/hosts/default?x", "unknownParameter"),
    ("/status?require=reachable&require=reachable", "badRequest"), ("/livez?verbose&verbose", "badRequest"),
    ("/hosts/default?timeout=1s&timeout=1s", "badRequest"),
  ])
  func unknownAndRepeatedParametersAreRejected(target: String, code: String) throws {
    let response = try ScriptedService().ask(target)
    #expect(response.status == 400)
    #expect(try response.object()["code"] as? String == code)
  }

  @Test func unknownParameterAnswerListsKnownParameters() throws {
    let service = try ScriptedService()
    func detail(_ target: String) throws -> String? { try service.ask(target).object()["detail"] as? String }
    #expect(try detail("/status?requires=x") == "unknown parameter \"requires\" of /status; expected require, wait")
    #expect(try detail("/interfaces?x") == "unknown parameter \"x\" of /interfaces; expected wait")
    let host = try detail("/hosts/default?x")
    #expect(host?.hasSuffix("expected interface, resolve, source, timeout, wait") == true)
  }

  @Test(arguments: ["abc", "a", "~!#$%&'()*+-./:;<=>?@[]^_`{|}", String(repeating: "x", count: 128)])
  func requestIDIsEchoed(id: String) throws {
    let service = try ScriptedService()
    for target in RouterTests.paths + ["/nothing", "/status?x"] {
      #expect(try service.ask(target, ["X-Request-Id": id]).headers["X-Request-Id"] == id, "\(target)")
    }
    let problem = try service.ask("/nothing", ["X-Request-Id": id]).object()
    #expect(problem["instance"] as? String == "urn:reachd:request:\(id)")
  }

  @Test(arguments: ["", "two words", "a,b", "quo\"te", "ü", "tab\there", String(repeating: "x", count: 129)])
  func invalidRequestIDIsReplaced(id: String) throws {
    let service = try ScriptedService()
    let made = try #require(try service.ask("/nothing", ["X-Request-Id": id]).headers["X-Request-Id"])
    #expect(made != id)
    #expect(made.count == 15)
    #expect(try service.ask("/nothing", ["X-Request-Id": id]).headers["X-Request-Id"] != made)
  }

  @Test(arguments: [
    "127.0.0.1", "127.0.0.1:8080", "localhost", "LocalHost:80", "localhost.", "[::1]", "[::1]:8080", "10.0.0.5:8080",
    "192.0.2.1", "", "reachd.example", "REACHD.example.:8080",
  ])
  func literalsLocalhostAndAllowedHostsAreAccepted(host: String) throws {
    let service = try ScriptedService(.wired, .init { $0.allowedHosts = ["Reachd.Example"] })
    #expect(try service.ask("/status", ["Host": host]).status == 200)
  }

  @Test(arguments: [
    "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "2130706433", "0x7f.1",
    "[evil]", "example", "localhost..", "reachd.example.evil",
  ])
  func otherHostsAreRejectedOnLoopback(host: String) throws {
    let service = try ScriptedService(.wired, .init { $0.allowedHosts = ["reachd.example"] })
    let response = try service.ask("/status", ["Host": host])
    #expect(response.status == 403)
    #expect(try response.object()["code"] as? String == "hostNotAllowed")
    #expect(try service.ask("/status", ["Host": host], isLoopbackListener: false).status == 403)
    // Even what is not there tells a foreign page nothing.
    #expect(try service.ask("/nothing", ["Host": host]).status == 403)
  }

  @Test func otherHostsAreAcceptedElsewhereByDefault() throws {
    let service = try ScriptedService()
    #expect(try service.ask("/status", ["Host": "node7.example"], isLoopbackListener: false).status == 200)
    #expect(try service.ask("/status", ["Host": "node7.example"]).status == 403)
  }

  @Test func indexListsEveryRoute() throws {
    let service = try ScriptedService(
      .wired,
      .init {
        $0.version = "9.9"
        $0.commit = "3f2a9c1"
      })
    let index = try service.ask("/").object()
    let endpoints = try #require(index["endpoints"] as? [[String: String]])
    #expect(index["version"] as? String == "9.9")
    #expect(index["commit"] as? String == "3f2a9c1")
    #expect(endpoints.map { $0["path"] } == RouteTable.declarations.map(\.pattern))
    let text = try service.ask("/", ["Accept": "text/plain"]).text
    #expect(text.hasPrefix("reachd 9.9 (commit 3f2a9c1)\n"))
    for route in RouteTable.declarations { #expect(text.contains("\(route.method) \(route.pattern) ")) }
  }

  @Test func problemCodeHasAStatusAndATitle() {
    for code in Problem.Code.allCases {
      #expect((400...599).contains(code.status))
      #expect(!code.title.isEmpty)
    }
    #expect(Set(Problem.Code.allCases.map(\.title)).count == Problem.Code.allCases.count)
  }

  @Test(arguments: [
    (RequestRefusal.Rule.host, 400, "badRequest"), (.framing, 400, "badRequest"),
    (.lengthRequired, 411, "lengthRequired"), (.bodyTooLarge, 413, "tooLarge"),
    (.headTooLarge, 431, "tooLarge"), (.tooSlow, 408, "badRequest"), (.tooManyConnections, 429, "rateLimited"),
    (.overloaded, 503, "overloaded"), (.draining, 503, "draining"), (.noReply, 500, "internal"),
  ])
  func serverRefusalIsAProblemDocument(rule: RequestRefusal.Rule, status: Int, code: String) throws {
    let refusal = RequestRefusal(rule: rule, status: status, detail: "Because.", retryAfterSeconds: 7)
    let response = try ScriptedService().router.environment.refusal(refusal, of: nil)
    #expect(response.status == status)
    #expect(response.headers["Retry-After"] == "7")
    let problem = try response.object()
    #expect(problem["code"] as? String == code)
    #expect(problem["status"] as? Int == status)
    #expect(problem["detail"] as? String == "Because.")
  }

  @Test func serverRefusalHasCommonHeaders() throws {
    let service = try ScriptedService(.wired, .init { $0.allowedOrigins = ["https://dash.example"] }).router.environment
    let refusal = RequestRefusal(rule: .bodyTooLarge, status: 413, detail: "Because.")
    let known = HTTPRequest(headers: ["X-Request-Id": "mine", "Origin": "https://dash.example"])
    let response = service.refusal(refusal, of: known)
    #expect(response.headers["X-Request-Id"] == "mine")
    #expect(try response.object()["instance"] as? String == "urn:reachd:request:mine")
    #expect(response.headers["Access-Control-Allow-Origin"] == "https://dash.example")
    let foreign = HTTPRequest(headers: ["X-Request-Id": "a, b", "Origin": "https://foreign.example"])
    for request in [foreign, nil] {
      let response = service.refusal(refusal, of: request)
      #expect(response.headers["Access-Control-Allow-Origin"] == nil)
      #expect(response.headers["X-Request-Id"]?.utf8.count == 15)
    }
  }
}
