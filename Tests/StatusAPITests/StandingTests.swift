import Logging
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import MicroHTTP
@testable import StatusAPI

/// Which answers the HTTP room may give again without asking, and for how long.
@Suite struct StandingTests {
  @Test("The documents stand until they, the settings or the rights change")
  func documents() throws {
    let service = try ScriptedService()
    func standing(_ target: String = "/status") throws -> AnswerStanding {
      let standing = try #require(try service.ask(target).standing)
      #expect(standing.holds)
      return standing
    }
    for target in ["/status", "/status?require=reachable", "/interfaces"] {
      let before = try standing(target)
      service.kernel.change { $0.pull("eth0") }
      service.kernel.advance(by: .seconds(1))
      #expect(!before.holds, "\(target)")
      service.kernel.change { $0.plug("eth0") }
    }
    let beforeSettings = try standing()
    service.service.change(to: .init(accessLog: .silent))
    #expect(!beforeSettings.holds)
    service.service.change(to: .init())
    let beforeAccess = try standing()
    service.service.replaceAccess(AccessPolicy(listeners: [.init(reads: .token)]))
    #expect(!beforeAccess.holds)
  }

  @Test("What depends on more than that does not stand")
  func others() throws {
    let service = try ScriptedService()
    let tag = try #require(try service.ask("/status").headers["ETag"])
    let none: [(String, HTTPHeaders)] = [
      ("/status", ["If-None-Match": tag]), ("/status", ["X-Request-Id": "a"]), ("/livez", [:]), ("/readyz", [:]),
      ("/metrics", [:]), ("/hosts/10.0.0.9", [:]), ("/", [:]), ("/status?wait=1", ["Prefer": "wait=1"]),
    ]
    for (target, headers) in none {
      #expect(try service.ask(target, headers).standing == nil, "\(target) \(headers)")
    }
    #expect(try service.ask("/status", method: "HEAD").standing == nil)
    service.kernel.change { $0.removeDefaults(.ipv4) }
    service.kernel.advance(by: .seconds(1))
    #expect(try service.ask("/status?require=reachable").standing == nil)
  }

  @Test("Where a token decides, or answers are logged or shown to other origins, each request is looked at")
  func rules() throws {
    let logged = try ScriptedService(.wired, .init(accessLog: .silent))
    #expect(try logged.ask("/status").standing == nil)
    let shown = try ScriptedService(.wired, .init(allowedOrigins: ["https://dash.example"]))
    #expect(try shown.ask("/status", ["Origin": "https://dash.example"]).standing == nil)
    let token = try AccessTests.token("a", [.read])
    let closed = try AccessTests.service(.init(reads: .token), [token.configured])
    let answer = try closed.ask("/status", token.headers)
    #expect(answer.status == 200 && answer.standing == nil)
  }

  @Test("An answer that is given again is counted like the first")
  func counted() throws {
    let service = try ScriptedService()
    let standing = try #require(try service.ask("/status").standing)
    for _ in 0..<3 { standing.repeated() }
    let line = #"reachd_http_requests_total{route="/status",method="GET",code="200"} 3"#
    let page = try service.ask("/metrics").text
    #expect(page.contains(line), "\(page)")
  }
}
