import Logging
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// Which answers the HTTP room may give again without asking, and for how long.
@Suite struct ResponseCachingTests {
  @Test("Cached documents are valid until document, settings or access change")
  func documents() throws {
    let service = try ScriptedService()
    func cacheValidity(_ target: String = "/status") throws -> ResponseCacheValidity {
      let cacheValidity = try #require(try service.ask(target).cacheValidity)
      #expect(cacheValidity.isValid)
      return cacheValidity
    }
    for target in ["/status", "/status?require=reachable", "/interfaces"] {
      let before = try cacheValidity(target)
      service.kernel.change { $0.dropCarrier("eth0") }
      service.kernel.advance(by: .seconds(1))
      #expect(!before.isValid, "\(target)")
      service.kernel.change { $0.restoreCarrier("eth0") }
    }
    let beforeSettings = try cacheValidity()
    service.service.change(to: .init { $0.accessLog = .silent })
    #expect(!beforeSettings.isValid)
    service.service.change(to: .init())
    let beforeAccess = try cacheValidity()
    service.service.replaceAccess(AccessPolicy(listeners: [.init(reads: .token)]))
    #expect(!beforeAccess.isValid)
  }

  @Test("Responses with other inputs are not cached")
  func others() throws {
    let service = try ScriptedService()
    let tag = try #require(try service.ask("/status").headers["ETag"])
    let none: [(String, HTTPHeaders)] = [
      ("/status", ["If-None-Match": tag]), ("/status", ["X-Request-Id": "a"]), ("/livez", [:]), ("/readyz", [:]),
      ("/metrics", [:]), ("/hosts/10.0.0.9", [:]), ("/", [:]), ("/status?wait=1", ["Prefer": "wait=1"]),
    ]
    for (target, headers) in none {
      #expect(try service.ask(target, headers).cacheValidity == nil, "\(target) \(headers)")
    }
    #expect(try service.ask("/status", method: "HEAD").cacheValidity == nil)
    service.kernel.change { $0.removeDefaults(.ipv4) }
    service.kernel.advance(by: .seconds(1))
    #expect(try service.ask("/status?require=reachable").cacheValidity == nil)
  }

  @Test("Tokens, access log and CORS disable response caching")
  func rules() throws {
    let logged = try ScriptedService(.wired, .init { $0.accessLog = .silent })
    #expect(try logged.ask("/status").cacheValidity == nil)
    let shown = try ScriptedService(.wired, .init { $0.allowedOrigins = ["https://dash.example"] })
    #expect(try shown.ask("/status", ["Origin": "https://dash.example"]).cacheValidity == nil)
    let token = try AccessPolicyTests.token("a", [.read])
    let closed = try AccessPolicyTests.service(.init(reads: .token), [token.configured])
    let answer = try closed.ask("/status", token.headers)
    #expect(answer.status == 200 && answer.cacheValidity == nil)
  }

  @Test("Cached responses are counted")
  func counted() throws {
    let service = try ScriptedService()
    let cacheValidity = try #require(try service.ask("/status").cacheValidity)
    for _ in 0..<3 { cacheValidity.onReuse() }
    let line = #"reachd_http_requests_total{route="/status",method="GET",code="200"} 3"#
    let page = try service.ask("/metrics").text
    #expect(page.contains(line), "\(page)")
  }
}
