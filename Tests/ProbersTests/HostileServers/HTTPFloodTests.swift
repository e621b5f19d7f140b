import EventLoop
import Locks
import Probers
import ReachabilityModel
import TestSupport
import Testing

/// libcurl reads in one call as long as the server sends what is no part of the answer.
@Suite("HTTPS servers that send without end")
struct HTTPFloodTests {
  /// What the server repeats.
  enum Content: String, CaseIterable {
    case unknownFrames, pingAnswers, priorities, windows, shutdowns, emptyData, padding, chunks, trailers, body

    /// The frame or the text.
    var bytes: [UInt8] {
      switch self {
      case .unknownFrames: Self.frame(0x7f, 0, 0)
      case .pingAnswers: Self.frame(6, 1, 0, Array(repeating: 0, count: 8))
      case .priorities: Self.frame(2, 0, 1, [0, 0, 0, 0, 1])
      case .windows: Self.frame(8, 0, 1, [0, 0, 0, 1])
      case .shutdowns: Self.frame(7, 0, 0, [0x7f, 255, 255, 255, 0, 0, 0, 0])
      case .emptyData: Self.frame(0, 0, 1)
      case .padding: Self.frame(0, 8, 1, [4, 0, 0, 0, 0])
      case .chunks: Array("1\r\nx\r\n".utf8)
      case .trailers: Array("a: b\r\n".utf8)
      case .body: Array("x".utf8)
      }
    }

    var isHTTP2: Bool { ![.chunks, .trailers, .body].contains(self) }

    /// What precedes it.
    var beginning: [UInt8] {
      switch self {
      case .emptyData, .padding: Self.frame(4, 0, 0) + Self.frame(1, 4, 1, [0x88])
      case .chunks: Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
      case .trailers: Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n".utf8)
      case .body: Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
      default: Self.frame(4, 0, 0)
      }
    }

    private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ content: [UInt8] = []) -> [UInt8] {
      [0, 0, UInt8(content.count), type, flags, 0, 0, 0, stream] + content
    }
  }

  /// Bytes that a server sends before the turns are counted, and those of them that sockets may contain.
  private static let (flood, buffered) = (32 << 20, 16 << 20)
  /// The most bytes that one turn may read, generously.
  private static let perTurn = 1 << 18

  let prober = ProberUnderTest()
  let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  /// The progress of the thread of this prober, which a check has started.
  private func progress() async throws -> LoopProgress {
    let others = Set(LoopProgress.watched.map(ObjectIdentifier.init))
    #expect(try await prober.check("tcp://127.0.0.1:\(Loopback.closedPort())").reason == .refused)
    return try #require(LoopProgress.watched.first { $0.name == "checks" && !others.contains(ObjectIdentifier($0)) })
  }

  @Test("They delay no other check", arguments: Content.allCases, ["+VERS-TLS1.2", "+VERS-TLS1.3"])
  func flood(content: Content, version: String) async throws {
    let (certificate, key) = try authority.issue("server")
    let record = Array(repeating: content.bytes, count: 16_000 / content.bytes.count).flatMap(\.self)
    let progress = try await progress()
    let sent = Locked(0)
    let isOver = Latch()
    defer { isOver.open() }
    let server = try TLSServer(
      certificate: certificate, key: key, priorities: "NORMAL:-VERS-ALL:\(version)",
      protocols: content.isHTTP2 ? ["h2"] : []
    ) { peer in
      _ = peer.receive()
      peer.send(content.beginning)
      while !isOver.wait(atMost: .zero), peer.send(record) { sent.withLock { $0 += record.count } }
    }
    let healthy = try TCPServer(TCPServer.untilClosed)
    var options = HTTPOptions()
    options.tls.authorityFile = authority.certificate
    options.expectBody = "y"
    let results = Results()
    let check = prober.prober.check(try request("https://127.0.0.1:\(server.port)/", .http(options)), results.take)
    // It may have ended already.
    try await waitUntil { sent.withLock(\.self) >= Self.flood || !results.all.isEmpty }
    let bytes = sent.withLock(\.self)
    #expect(Int(progress.turns) * Self.perTurn >= bytes - Self.buffered, "\(progress.turns) turns for \(bytes) bytes")
    for _ in 0..<20 { #expect(try await prober.check("tcp://127.0.0.1:\(healthy.port)").state == .up) }
    check.cancel()
    let result = try #require(try await results.wait(for: 1).first)
    #expect(result.state != .up)
  }
}
