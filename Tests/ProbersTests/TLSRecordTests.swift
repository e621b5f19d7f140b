import Glibc
import Probers
import ReachabilityModel
import TestSupport
import Testing

/// A peer's certificates may come in many records (RFC 8446 §5.1), and all of them at once.
@Suite(
  "TLS checks of servers with small records", .enabled(if: WebServer.isPossible && SmallRecordServer.isPossible),
  .serialized)
struct TLSRecordTests {
  let prober = ProberUnderTest()
  let certificates: Certificates

  init() throws { certificates = try Certificates() }

  /// `extra`: the number of unrelated certificates that are sent.
  @Test(arguments: ["tls1_2", "tls1_3"], [0, 3, 40])
  func smallRecords(version: String, extra: Int) async throws {
    let chain = certificates.path("long.pem")
    let stray = String(repeating: try certificates.text("expired.pem"), count: extra)
    try Certificates.write(try certificates.text("good.pem") + stray, to: chain)
    let server = try SmallRecordServer(certificates, chain: chain, version: version)
    var options = TLSOptions()
    options.authorityFile = certificates.authority
    for _ in 0..<5 {
      let result = try await prober.check("tls://127.0.0.1:\(server.port)", .tls(options))
      try #require(result.state == .up, "\(version) \(extra): \(result.detail ?? "")")
    }
  }
}

/// openssl(1) as a server whose records have no more than 512 bytes, the fewest it can.
private final class SmallRecordServer: Sendable {
  static let isPossible = unsafe access(program, X_OK) == 0

  private static let program = "/usr/bin/openssl"

  let port: UInt16
  private let child: Child

  init(_ certificates: Certificates, chain: String, version: String) throws {
    port = try Loopback.closedPort()
    child = try Child(
      Self.program,
      [
        "s_server", "-accept", "127.0.0.1:\(port)", "-cert", chain, "-cert_chain", chain, "-key",
        certificates.path("good.key"), "-www", "-max_send_frag", "512", "-\(version)",
      ])
    guard eventually({ child.output.contains("ACCEPT") }) else { throw TestError("openssl: \(child.errors)") }
  }
}
