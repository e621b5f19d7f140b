import Credentials
import ReachabilityModel
import Testing

@testable import EmbeddedHTTPServer
@testable import StatusAPI

/// Long polls whose token is revoked while they wait.
@Suite struct LongPollAccessTests {
  @Test func longPollsEndWithTheirToken() throws {
    let (old, new) = (try AccessPolicyTests.token("a", [.read]), try AccessPolicyTests.token("a", [.read]))
    let service = try AccessPolicyTests.service(.init(reads: .token), [old.configured, new.configured])
    func park(_ target: String, _ headers: HTTPHeaders) throws -> ParkedRequest {
      let tag = try #require(try service.ask(target, headers).headers["ETag"])
      var headers = headers
      headers["If-None-Match"] = tag
      return try service.park(target + "?wait=1m", headers)
    }
    for target in ["/status", "/hosts/10.0.0.9", "/targets", "/interfaces"] {
      let (revoked, kept) = (try park(target, old.headers), try park(target, new.headers))
      service.service.replaceAccess(AccessPolicy(listeners: [.init(reads: .token)], tokens: [new.configured]))
      #expect(try revoked.waitForAnswer().status == 401, "\(target)")
      #expect(kept.answer == nil, "\(target)")
      // One that is revoked without an announcement, as an expired token is.
      #expect(kept.expire().status != 401)
      for request in [revoked, kept] { request.end() }
      service.service.replaceAccess(
        AccessPolicy(listeners: [.init(reads: .token)], tokens: [old.configured, new.configured]))
    }
  }
}
