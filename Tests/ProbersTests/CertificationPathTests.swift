import Probers
import ReachabilityModel
import Testing

/// A server may show several certificates of one authority; what counts is whether one way leads up (RFC 4158 §2).
@Suite("Several paths from a certificate to an authority", .enabled(if: WebServer.isPossible), .serialized)
struct CertificationPathTests {
  let prober = ProberUnderTest()
  let server: WebServer

  init() throws { server = try WebServer() }

  /// Checked with `tls` and `https`, which must agree.
  private func both(
    _ kind: Certificates.Kind, trusting authorities: String = "authority", validFor: Duration = .zero
  ) async throws -> [CheckResult] {
    var options = TLSOptions()
    options.authorityFile = server.certificates.path("\(authorities).pem")
    options.minimumValidity = validFor
    var request = HTTPOptions()
    request.tls = options
    let port = server.port(kind)
    return [
      try await prober.check("tls://localhost:\(port)", .tls(options)),
      try await prober.check("https://localhost:\(port)/", .http(request)),
    ]
  }

  @Test(
    "Unrelated certificates do no harm at any position",
    arguments: [
      Certificates.Kind.unknownFirst, .unknownSecond, .pastFirst, .pastSecond, .oldFirst, .oldSecond, .goodLast,
    ],
    ["authority", "bothAuthorities"])
  func oneIsGood(kind: Certificates.Kind, authorities: String) async throws {
    for result in try await both(kind, trusting: authorities) {
      #expect(result.state == .up, "\(kind) \(authorities): \(result.detail ?? "")")
    }
  }

  @Test("The dates are those of the path", arguments: [Certificates.Kind.unknownFirst, .goodLast])
  func dates(kind: Certificates.Kind) async throws {
    for result in try await both(kind, validFor: .seconds(20 * 86_400)) {
      #expect(result.state == .up, "\(result.detail ?? "")")
    }
    for result in try await both(kind, validFor: .seconds(40 * 86_400)) {
      #expect(result.reason == .certificateExpired)
    }
  }

  @Test("Without a valid path the best one gives the reason")
  func noneIsGood() async throws {
    for result in try await both(.onlyUnknown) { #expect(result.reason == .certificateUntrusted) }
    for result in try await both(.onlyPast) {
      #expect(result.reason == .certificateExpired)
      #expect(result.detail?.contains("the certificate above it expired at 2021-01-01") == true)
    }
    for result in try await both(.pastFirst, trusting: "unknownAuthority") {
      #expect(result.reason == .certificateUntrusted)
    }
    // An expired authority, and an unknown one.
    for result in try await both(.oldFirst, trusting: "oldAuthority") {
      #expect(result.reason == .certificateExpired, "\(result.detail ?? "")")
    }
  }

  @Test("The common name is ignored (RFC 9525 §6.3)")
  func commonName() async throws {
    for result in try await both(.commonName) {
      #expect(result.reason == .certificateNameMismatch)
      #expect(result.evidence.tls?.subject == "CN=localhost" && result.evidence.tls?.names == [])
    }
  }
}
