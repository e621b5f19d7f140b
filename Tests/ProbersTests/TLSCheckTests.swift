import Probers
import ReachabilityModel
import TestSupport
import Testing

@Suite("TLS checks: chain, dates and names", .enabled(if: WebServer.isPossible), .serialized)
struct TLSCheckTests {
  let prober = ProberUnderTest()
  let server: WebServer

  init() throws { server = try WebServer() }

  private func shake(
    _ kind: Certificates.Kind, host: String = "localhost", _ change: (inout TLSOptions) -> Void = { _ in }
  ) async throws -> CheckResult {
    var options = TLSOptions()
    options.authorityFile = server.certificates.authority
    change(&options)
    return try await prober.check("tls://\(host):\(server.port(kind))", .tls(options))
  }

  @Test(arguments: ["localhost", "127.0.0.1"])
  func good(host: String) async throws {
    let result = try await shake(.good, host: host)
    #expect(result.state == .up)
    let tls = try #require(result.evidence.tls)
    #expect(tls.version == "TLSv1.3")
    #expect(tls.cipher.hasPrefix("TLS_"))
    #expect(tls.subject == "CN=localhost")
    #expect(tls.issuer == "CN=Test Authority")
    #expect(tls.names == ["localhost", "127.0.0.1"])
    #expect(try #require(tls.earliestExpiry) > result.startedAt)
    #expect(result.phases.map(\.name).suffix(2) == [.connect, .tls])
  }

  @Test(arguments: [
    (Certificates.Kind.expired, Reason.certificateExpired), (.early, .certificateExpired),
    (.otherName, .certificateNameMismatch), (.selfSigned, .certificateUntrusted),
  ])
  func bad(kind: Certificates.Kind, reason: Reason) async throws {
    let result = try await shake(kind)
    #expect(result.state == .down)
    #expect(result.reason == reason)
    #expect(result.evidence.tls?.earliestExpiry != nil)
    #expect(try await shake(kind) { $0.verify = false }.state == .up)
  }

  @Test func expiryIsToldWhenExpired() async throws {
    let result = try await shake(.expired)
    #expect(result.evidence.tls?.earliestExpiry?.description == "2021-01-01T00:00:00.000000Z")
    #expect(result.detail?.contains("2021-01-01") == true)
  }

  @Test("The expiry is that of the verified path", arguments: [Certificates.Kind.withExpired, .pastFirst, .oldSecond])
  func pathExpiry(kind: Certificates.Kind) async throws {
    let result = try await shake(kind)
    let tls = try #require(result.evidence.tls)
    #expect(result.state == .up && tls.earliestExpiry?.description.hasPrefix("2021-01-01") == true, "\(result)")
    #expect(try #require(tls.expiry) > result.startedAt && tls.expiry == tls.pathExpiry)
    let unverified = try await shake(kind) { $0.verify = false }
    #expect(unverified.evidence.tls?.expiry == tls.earliestExpiry && unverified.evidence.tls?.pathExpiry == nil)
  }

  @Test("The expiry of a certificate that has expired")
  func expiredPath() async throws {
    let tls = try #require(try await shake(.expired).evidence.tls)
    #expect(tls.expiry?.description.hasPrefix("2021-01-01") == true && tls.pathExpiry == nil)
  }

  @Test func everythingThatIsWrongIsTold() async throws {
    let result = try await shake(.expired) {
      $0.serverName = "elsewhere.test"
      $0.authorityFile = nil
    }
    #expect(result.reason == .certificateUntrusted)
    #expect(result.detail?.contains("expired") == true)
    #expect(result.detail?.contains("elsewhere.test") == true)
  }

  @Test func anotherName() async throws {
    #expect(try await shake(.otherName) { $0.serverName = "other.test" }.state == .up)
    #expect(try await shake(.good) { $0.serverName = "other.test" }.reason == .certificateNameMismatch)
  }

  @Test("Only certificates on the path to an authority count")
  func datesOfTheWay() async throws {
    #expect(try await shake(.crossSigned).state == .up)
    #expect(try await shake(.withExpired).state == .up)
    #expect(try await shake(.crossSigned) { $0.minimumValidity = .seconds(20 * 86_400) }.state == .up)
    let result = try await shake(.byExpired) { $0.authorityFile = server.certificates.oldAuthority }
    #expect(result.reason == .certificateExpired)
    #expect(result.detail?.contains("the certificate above it expired at 2021-01-01") == true)
  }

  @Test func meantForClients() async throws {
    let result = try await shake(.clientOnly)
    #expect(result.reason == .certificateUntrusted)
    #expect(result.detail?.contains("not meant for servers") == true)
  }

  @Test("Deprecated versions are not used (RFC 8996)", arguments: ["tls", "https"])
  func outdatedVersions(scheme: String) async throws {
    let result = try await prober.check("\(scheme)://localhost:\(server.outdated)")
    #expect(result.state == .down)
    #expect(result.reason == .tlsHandshake)
  }

  @Test func expiresTooSoon() async throws {
    #expect(try await shake(.good) { $0.minimumValidity = .seconds(20 * 86_400) }.state == .up)
    #expect(try await shake(.good) { $0.minimumValidity = .seconds(40 * 86_400) }.reason == .certificateExpired)
  }

  @Test func authoritiesThatCannotBeRead() async throws {
    let result = try await shake(.good) { $0.authorityFile = "/nonexistent.pem" }
    #expect(result.state == .unknown, "that is not the target's fault")
    #expect(result.detail?.contains("/nonexistent.pem") == true)
  }

  @Test("A changed file of authorities is read again")
  func authoritiesAreFollowed() async throws {
    let path = server.certificates.path("followed.pem")
    try Certificates.write(try server.certificates.text("selfSigned.pem"), to: path)
    #expect(try await shake(.good) { $0.authorityFile = path }.reason == .certificateUntrusted)
    try Certificates.write(try server.certificates.text("authority.pem"), to: path)
    #expect(try await shake(.good) { $0.authorityFile = path }.state == .up)
  }

  @Test func noTLS() async throws {
    let result = try await prober.check("tls://127.0.0.1:\(server.port)")
    #expect(result.state == .down)
    #expect(result.reason == .tlsHandshake)
  }

  @Test func brokenOff() async throws {
    let closing = try TCPServer { _ = Loopback.receive(1, from: $0) }
    #expect(try await prober.check("tls://127.0.0.1:\(closing.port)").reason == .reset)
    let silent = try TCPServer(TCPServer.untilClosed)
    let result = try await prober.check("tls://127.0.0.1:\(silent.port)", timeout: .milliseconds(200))
    #expect(result.reason == .timeout)
    #expect(try await prober.check("tls://127.0.0.1:\(Loopback.closedPort())").reason == .refused)
  }

  @Test func refusedByAnAlert() async throws {
    // A fatal alert, handshake_failure (RFC 8446 §6).
    let refusing = try TCPServer { peer in
      _ = Loopback.receive(4_096, from: peer)
      Loopback.send([21, 3, 3, 0, 2, 2, 40], to: peer)
      TCPServer.untilClosed(peer)
    }
    let result = try await prober.check("tls://127.0.0.1:\(refusing.port)")
    #expect(result.reason == .tlsHandshake)
    #expect(result.detail?.contains("Handshake failed") == true)
  }

  @Test func warningsWithoutEnd() async throws {
    // Warning alerts, user_canceled: none of them ends a handshake.
    let warning = try TCPServer { peer in
      _ = Loopback.receive(4_096, from: peer)
      for _ in 0..<10_000 { Loopback.send([21, 3, 3, 0, 2, 1, 90], to: peer) }
    }
    #expect(try await prober.check("tls://127.0.0.1:\(warning.port)").state == .down)
  }
}
