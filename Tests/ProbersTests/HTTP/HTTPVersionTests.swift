import Probers
import Locks
import ReachabilityModel
import TestSupport
import Testing

@Suite("Versions and errors of HTTPS")
struct HTTPVersionTests {
  /// Frames of HTTP/2 (RFC 9113 §6).
  private enum Frame {
    static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
    /// The end of the first stream with an error.
    static func reset(_ code: UInt8) -> [UInt8] { [0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, code] }
    /// The end of the connection with an error, before any stream.
    static func goAway(_ code: UInt8) -> [UInt8] { [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, code] }
  }

  /// The versions of the requests, in their order.
  private final class Received: Sendable {
    private let versions = Locked<[String]>([])
    var all: [String] { versions.withLock(\.self) }
    func append(_ version: String) { versions.withLock { $0.append(version) } }
  }

  private static let well = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nwell"

  let prober = ProberUnderTest()
  let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  private func server(
    protocols: [String] = ["h2", "http/1.1"], _ script: @escaping @Sendable (TLSPeer) -> Void
  ) throws -> TLSServer {
    let (certificate, key) = try authority.issue("server")
    return try TLSServer(certificate: certificate, key: key, protocols: protocols, script: script)
  }

  private func check(_ server: TLSServer, _ change: (inout HTTPOptions) -> Void = { _ in }) async throws -> CheckResult
  {
    var options = HTTPOptions()
    options.tls.authorityFile = authority.certificate
    change(&options)
    return try await prober.check("https://127.0.0.1:\(server.port)/", .http(options))
  }

  /// Answers the first connections with HTTP/2 frames, and those of HTTP/1.1 well.
  private func server(frames: [UInt8], _ received: Received) throws -> TLSServer {
    try server { peer in
      let text = String(decoding: peer.receive(), as: UTF8.self)
      received.append(text.hasPrefix("GET") ? "1.1" : "2")
      if text.hasPrefix("GET") { peer.send(Self.well) } else { peer.send(Frame.settings + frames) }
      peer.awaitClose()
    }
  }

  @Test("A server that requires HTTP/1.1, or refuses the stream, is asked again", arguments: [UInt8(13), 7])
  func fallback(code: UInt8) async throws {
    let received = Received()
    let result = try await check(try server(frames: Frame.reset(code), received))
    #expect(result.state == .up && result.evidence.http?.version == "1.1", "\(result)")
    #expect(received.all == ["2", "1.1"])
  }

  @Test("Errors of HTTP/2 are named", arguments: [UInt8(1), 2, 11])
  func streamErrors(code: UInt8) async throws {
    let received = Received()
    let result = try await check(try server(frames: Frame.reset(code), received))
    #expect(result.state == .down && result.reason == .noReply, "\(result)")
    #expect(result.detail?.contains("HTTP/2") == true, "\(result)")
  }

  @Test("The end of an HTTP/2 connection with an error", arguments: [UInt8(1), 11])
  func connectionErrors(code: UInt8) async throws {
    let received = Received()
    let result = try await check(try server(frames: Frame.goAway(code), received))
    // libcurl 8.14 sends the request again, because the server has not processed it (RFC 9113 §6.8).
    let isSentAgain = result.state == .up && received.all == ["2", "1.1"]
    #expect(isSentAgain || result.state == .down && result.reason == .noReply, "\(result)")
  }

  @Test("HTTP/1.1 alone is offered if the module says so")
  func forced() async throws {
    let received = Received()
    let server = try server(frames: [], received)
    let result = try await check(server) { $0.version = .http11 }
    #expect(result.state == .up && result.evidence.http?.version == "1.1", "\(result)")
    #expect(received.all == ["1.1"])
  }

  @Test("An alert after the handshake is an error of TLS")
  func alert() async throws {
    let server = try server(protocols: []) { peer in
      _ = peer.receive()
      peer.sendAlert()
      peer.awaitClose()
    }
    let result = try await check(server)
    #expect(result.state == .down && result.reason == .tlsHandshake, "\(result)")
    #expect(result.detail?.contains("alert") == true, "\(result)")
  }

  @Test("A body until the close needs the alert of the end", arguments: [true, false])
  func bodyUntilClose(isOrderly: Bool) async throws {
    let server = try server(protocols: []) { peer in
      _ = peer.receive()
      peer.send("HTTP/1.1 200 OK\r\n\r\nwell")
      if isOrderly { peer.close() }
    }
    let result = try await check(server)
    #expect(result.state == (isOrderly ? .up : .down) && result.reason == (isOrderly ? nil : .reset), "\(result)")
  }

  @Test("The host name of a caller is sent and verified")
  func hostname() async throws {
    let (certificate, key) = try authority.issue("inner", names: "DNS:inner.test")
    let received = Received()
    let server = try TLSServer(certificate: certificate, key: key) { peer in
      received.append(String(decoding: peer.receive(), as: UTF8.self))
      peer.send(Self.well)
      peer.awaitClose()
    }
    var options = HTTPOptions()
    options.tls.authorityFile = authority.certificate
    var https = try request("https://127.0.0.1:\(server.port)/", .http(options))
    https.hostname = "inner.test"
    let result = try await prober.check(https)
    #expect(result.state == .up, "\(result)")
    #expect(received.all.first?.contains("\r\nHost: inner.test\r\n") == true)
    var tls = try request("tls://127.0.0.1:\(server.port)", .tls(options.tls))
    #expect(try await prober.check(tls).reason == .certificateNameMismatch)
    tls.hostname = "inner.test"
    #expect(try await prober.check(tls).state == .up)
  }

  @Test("The field Host is the name for TLS", arguments: ["inner.test", "inner.test:8443", "INNER.test"])
  func hostField(value: String) async throws {
    let (certificate, key) = try authority.issue("inner", names: "DNS:inner.test")
    let heads = Locked<[String]>([])
    let server = try TLSServer(certificate: certificate, key: key) { peer in
      heads.withLock { $0.append(String(decoding: peer.receive(), as: UTF8.self)) }
      peer.send(Self.well)
      peer.awaitClose()
    }
    #expect(try await check(server).reason == .certificateNameMismatch)
    let result = try await check(server) { $0.headers = [.init(name: "Host", value: value)] }
    #expect(result.state == .up, "\(result)")
    // The connection that the client ended may be the last one that the server notices.
    #expect(heads.withLock { $0.contains { $0.contains("Host: \(value)\r\n") } })
    // A name that the module sets for TLS takes precedence.
    let other = try await check(server) {
      $0.headers = [.init(name: "Host", value: value)]
      $0.tls.serverName = "other.test"
    }
    #expect(other.reason == .certificateNameMismatch)
  }
}
