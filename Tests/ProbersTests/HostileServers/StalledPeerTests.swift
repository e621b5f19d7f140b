import Locks
import Probers
import ReachabilityModel
import TestSupport
import Testing

/// A peer may stop at every byte of every protocol and keep the connection open; other checks on the thread must go on.
///
/// Each protocol is tried with a connection for each byte of the answer, at which it stops.
@Suite("Peers that stop, and stay connected")
struct StalledPeerTests {
  enum Kind: String, CaseIterable {
    case tcp, http, redirect, dns, tls12, tls13, https12, https13, http2, upload, secureUpload

    var direction: StallingProxy.Direction { self == .upload || self == .secureUpload ? .toServer : .toClient }
  }

  /// Positions in a body that is sent.
  private static let uploadPositions = 24
  /// Connections at the same time: below the limit for one address.
  private static let concurrent = 24
  /// Bytes of a body: more than the buffers of two sockets.
  private static let uploadBytes = 1 << 23

  /// The servers' certificate.
  private final class Certificate {
    let authority: TestAuthority
    let files: (certificate: String, key: String)

    init() throws {
      authority = try TestAuthority()
      files = try authority.issue("server")
    }
  }

  /// A server that answers checks, with whatever must be kept alive.
  private struct Server {
    let port: UInt16
    let kept: Any
  }

  let prober = ProberUnderTest()
  private let certificate: Certificate

  init() throws { certificate = try Certificate() }

  private func server(_ kind: Kind) throws -> Server {
    switch kind {
    case .tcp:
      let server = try TCPServer { peer in
        Loopback.send(Array("220 ready to serve\r\n".utf8), to: peer)
        TCPServer.untilClosed(peer)
      }
      return Server(port: server.port, kept: server)
    case .upload:
      let server = try TCPServer { peer in
        var count = 0
        while count < Self.uploadBytes {
          let bytes = Loopback.receive(65_536, from: peer)
          if bytes.isEmpty { return }
          count += bytes.count
        }
        Loopback.send(Array(ScriptedWeb.well.utf8), to: peer)
        TCPServer.untilClosed(peer)
      }
      return Server(port: server.port, kept: server)
    case .http, .redirect:
      let server = try ScriptedWeb(["/": ScriptedWeb.well])
      return Server(port: server.port, kept: server)
    case .dns:
      let server = try DNSServer { _, _ in .addresses([[192, 0, 2, 1]]) }
      return Server(port: server.port, kept: server)
    case .tls12, .https12, .secureUpload: return try tlsServer("NORMAL:-VERS-ALL:+VERS-TLS1.2")
    case .tls13, .https13: return try tlsServer("NORMAL:-VERS-ALL:+VERS-TLS1.3")
    case .http2: return try tlsServer("NORMAL", isHTTP2: true)
    }
  }

  private func tlsServer(_ priorities: String, isHTTP2: Bool = false) throws -> Server {
    let files = certificate.files
    let server = try TLSServer(
      certificate: files.certificate, key: files.key, priorities: priorities, protocols: isHTTP2 ? ["h2"] : []
    ) { peer in
      guard !peer.receive().isEmpty else { return }
      if isHTTP2 {
        // SETTINGS, HEADERS with `:status: 200`, and DATA, the last of the stream (RFC 9113 §6).
        peer.send([0, 0, 0, 4, 0, 0, 0, 0, 0] + [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88])
        peer.send([0, 0, 4, 0, 1, 0, 0, 0, 1] + Array("well".utf8))
      } else {
        peer.send(ScriptedWeb.well)
      }
      while !peer.receive().isEmpty {}
    }
    return Server(port: server.port, kept: server)
  }

  private func request(_ kind: Kind, _ port: UInt16, redirectedBy first: UInt16) throws -> CheckRequest {
    var http = HTTPOptions()
    http.tls.authorityFile = certificate.authority.certificate
    http.expectBody = "well"
    http.maximumRedirects = 3
    let address = "127.0.0.1:\(port)"
    func make(_ text: String, _ options: CheckModule.Options) throws -> CheckRequest {
      try ProbersTests.request(text, options)
    }
    switch kind {
    case .tcp: return try make("tcp://\(address)", .tcp(TCPOptions(expect: "ready to serve\r\n$")))
    case .http: return try make("http://\(address)/", .http(http))
    case .redirect: return try make("http://127.0.0.1:\(first)/", .http(http))
    case .dns:
      var options = DNSOptions()
      options.usesTCP = true
      return try make("dns://\(address)/host.test", .dns(options))
    case .tls12, .tls13: return try make("tls://\(address)", .tls(http.tls))
    case .https12, .https13, .http2: return try make("https://\(address)/", .http(http))
    case .upload, .secureUpload:
      http.method = "POST"
      http.body = String(repeating: "x", count: Self.uploadBytes)
      return try make("\(kind == .upload ? "http" : "https")://\(address)/", .http(http))
    }
  }

  @Test("Other checks go on", arguments: Kind.allCases)
  func stalled(kind: Kind) async throws {
    let server = try server(kind)
    let proxy = try StallingProxy(to: server.port, stalling: kind.direction)
    let redirecting = try ScriptedWeb(["/": ScriptedWeb.redirect(302, "http://127.0.0.1:\(proxy.port)/")])
    let healthy = try TCPServer(TCPServer.untilClosed)
    let asked = try request(kind, proxy.port, redirectedBy: redirecting.port)

    // Without a limit, for the number of bytes.
    let whole = Results()
    prober.prober.check(asked, whole.take)
    let result = try #require(try await whole.wait(for: 1).first)
    if kind != .secureUpload { #expect(result.state == .up, "\(kind): \(result.detail ?? "")") }
    let total = proxy.most
    #expect(total > 16)
    let step = kind.direction == .toServer ? max(1, total / Self.uploadPositions) : 1

    var positions = stride(from: 0, to: total, by: step).map { $0 }[...]
    while !positions.isEmpty {
      let batch = Array(positions.prefix(Self.concurrent))
      positions = positions.dropFirst(Self.concurrent)
      proxy.arm(batch)
      let results = Results()
      let checks = batch.map { _ in prober.prober.check(asked, results.take) }
      try await waitUntil { proxy.settled == batch.count }
      for _ in 0..<3 { #expect(try await prober.check("tcp://127.0.0.1:\(healthy.port)").state == .up) }
      checks.forEach { $0.cancel() }
      // The last bytes may be no part of the answer.
      let ended = try await results.wait(for: batch.count)
      #expect(ended.count { $0.state == .up } <= batch.count { $0 > total / 2 }, "\(kind) \(batch)")
    }
    withExtendedLifetime(server) {}
  }
}
