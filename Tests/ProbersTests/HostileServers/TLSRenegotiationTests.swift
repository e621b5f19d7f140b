import Locks
import Probers
import ReachabilityModel
import StatusClient
import TestSupport
import Testing

/// A TLS 1.2 server may ask for a second handshake at any time (RFC 5246 §7.4.1.1); libcurl waits for it in one call.
@Suite("Servers that ask for a TLS renegotiation")
struct TLSRenegotiationTests {
  /// When the server asks.
  enum Moment: String, CaseIterable {
    case beforeRequest, afterRequest, withinBody, withinLargeUpload, afterFramesOfHTTP2, beforeFramesOfHTTP2
  }

  static let tls12 = "NORMAL:-VERS-ALL:+VERS-TLS1.2"

  let prober = ProberUnderTest()
  let authority: TestAuthority
  let certificate: String
  let key: String

  init() throws {
    authority = try TestAuthority()
    (certificate, key) = try authority.issue("server")
  }

  private func server(_ moment: Moment, _ then: @escaping @Sendable (TLSPeer) -> Void) throws -> TLSServer {
    let isHTTP2 = moment == .afterFramesOfHTTP2 || moment == .beforeFramesOfHTTP2
    return try TLSServer(
      certificate: certificate, key: key, priorities: Self.tls12, protocols: isHTTP2 ? ["h2"] : []
    ) { peer in
      switch moment {
      case .beforeRequest: break
      case .afterRequest: _ = peer.receive()
      case .withinBody:
        _ = peer.receive()
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab")
      case .withinLargeUpload: _ = peer.receive()
      case .beforeFramesOfHTTP2: peer.send([0, 0, 0, 4, 0, 0, 0, 0, 0])
      case .afterFramesOfHTTP2:
        peer.send([0, 0, 0, 4, 0, 0, 0, 0, 0])
        _ = peer.receive()
      }
      then(peer)
    }
  }

  private func options(_ moment: Moment) -> CheckModule.Options {
    var options = HTTPOptions()
    options.tls.authorityFile = authority.certificate
    options.expectBody = "b"
    if moment == .withinLargeUpload {
      options.method = "POST"
      options.body = String(repeating: "x", count: 1 << 22)
    }
    return .http(options)
  }

  @Test("A server that is silent afterwards delays no other check", arguments: Moment.allCases)
  func silence(moment: Moment) async throws {
    let (asked, released) = (Latch(), Latch())
    // Even a failing test must end.
    defer { released.open() }
    let silent = try server(moment) { peer in
      peer.requestRenegotiation()
      asked.open()
      _ = released.wait(atMost: patience + patience)
    }
    let healthy = try TCPServer(TCPServer.untilClosed)
    let results = Results()
    prober.prober.check(try request("https://127.0.0.1:\(silent.port)/", options(moment)), results.take)
    try await waitUntil { asked.wait(atMost: .zero) }
    // The request may arrive at any time from now on.
    for _ in 0..<20 { #expect(try await prober.check("tcp://127.0.0.1:\(healthy.port)").state == .up) }
    let result = try #require(try await results.wait(for: 1).first)
    #expect(result.state == .down && result.reason == .tlsHandshake)
    #expect(result.detail == "the server asked for a TLS renegotiation, which is refused")
    #expect(result.evidence.http?.status == (moment == .withinBody ? 200 : nil))
  }

  @Test("A server that would complete the renegotiation is down", arguments: [Moment.afterRequest, .withinBody])
  func completion(moment: Moment) async throws {
    let server = try server(moment) { peer in
      guard peer.renegotiate() else { return }
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb")
    }
    let result = try await prober.check("https://127.0.0.1:\(server.port)/", options(moment))
    #expect(result.state == .down && result.reason == .tlsHandshake)
    #expect(result.detail == "the server asked for a TLS renegotiation, which is refused")
  }

  @Test("The command line's requests and streams end", arguments: [Moment.afterRequest, .withinBody], [false, true])
  func client(moment: Moment, isStream: Bool) throws {
    let released = Latch()
    defer { released.open() }
    let server = try server(moment) { peer in
      peer.requestRenegotiation()
      _ = released.wait(atMost: patience)
    }
    var request = HTTPClient.Request("https://127.0.0.1:\(server.port)/", timeout: patience)
    request.authorities = authority.certificate
    let error = #expect(throws: HTTPClientError.self) {
      if isStream {
        _ = try HTTPClient.stream(request, maximumBody: 100) { _ in }
      } else {
        _ = try HTTPClient.send(request, maximumBody: 100)
      }
    }
    #expect(error?.reason == .tls)
    #expect(error?.message == "the server asked for a TLS renegotiation, which is refused")
  }

  @Test("A check of a redirect's second server is protected as well")
  func redirected() async throws {
    let released = Latch()
    defer { released.open() }
    let silent = try server(.afterRequest) { peer in
      peer.requestRenegotiation()
      _ = released.wait(atMost: patience)
    }
    let first = try ScriptedWeb(["/": ScriptedWeb.redirect(302, "https://127.0.0.1:\(silent.port)/")])
    var options = HTTPOptions()
    options.tls.authorityFile = authority.certificate
    options.maximumRedirects = 3
    let result = try await prober.check("http://127.0.0.1:\(first.port)/", .http(options))
    #expect(result.reason == .tlsHandshake)
  }

  @Test("A handshake alone meets no renegotiation")
  func handshakeAlone() async throws {
    let server = try server(.beforeRequest) { peer in
      peer.requestRenegotiation()
      peer.awaitClose()
    }
    var options = TLSOptions()
    options.authorityFile = authority.certificate
    #expect(try await prober.check("tls://127.0.0.1:\(server.port)", .tls(options)).state == .up)
  }
}
