import Foundation
import Glibc
import Probers
import ReachabilityModel
import Locks
import TestSupport
import Testing

@Suite("TCP checks")
struct TCPCheckTests {
  let prober = ProberUnderTest()

  private func dialogue(
    _ server: TCPServer, send: String? = nil, expect: String? = nil, timeout: Duration = patience
  ) async throws -> CheckResult {
    try await prober.check(
      "tcp://127.0.0.1:\(server.port)", .tcp(TCPOptions(send: send, expect: expect)), timeout: timeout)
  }

  @Test func portWithListener() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let result = try await prober.check("tcp://127.0.0.1:\(server.port)")
    #expect(result.state == .up)
    #expect(result.reason == nil)
    #expect(result.address == IPAddress("127.0.0.1"))
    #expect(result.source == IPAddress("127.0.0.1"))
    #expect(result.phases.map(\.name) == [.connect])
    #expect(result.duration >= result.duration(of: .connect) ?? .zero)
  }

  @Test("A connect-only check leaves no TIME-WAIT")
  func connectOnly() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    for _ in 0..<20 { #expect(try await prober.check("tcp://127.0.0.1:\(server.port)").state == .up) }
    // The kernel's list of sockets (proc(5)): none to the server is left in any state.
    let port = String(server.port, radix: 16, uppercase: true)
    let other = ":" + String(repeating: "0", count: 4 - port.count) + port
    let sockets = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n").dropFirst()
    #expect(!sockets.isEmpty)
    #expect(!sockets.contains { $0.split(separator: " ")[2].hasSuffix(other) })
  }

  @Test("A dialogue ends without a reset")
  func partingInOrder() async throws {
    let ends = Locked<[Int32]>([])
    let server = try TCPServer { peer in
      var byte: UInt8 = 0
      while true {
        let got = unsafe recv(peer, &byte, 1, 0)
        guard got <= 0 else { continue }
        let code = got == 0 ? 0 : errno
        return ends.withLock { $0.append(code) }
      }
    }
    for _ in 0..<20 { #expect(try await dialogue(server, send: "QUIT\r\n").state == .up) }
    try await waitUntil { ends.withLock { $0.count } == 20 }
    #expect(ends.withLock { $0 }.allSatisfy { $0 == 0 })
  }

  @Test func portWithoutListener() async throws {
    let result = try await prober.check("tcp://127.0.0.1:\(Loopback.closedPort())")
    #expect(result.state == .down)
    #expect(result.reason == .refused)
    #expect(result.phases.isEmpty)
  }

  @Test func silentListener() async throws {
    // A listener whose queue is full drops further connections (listen(2)).
    let (listener, port) = try Loopback.bound(.stream)
    defer { close(listener) }
    #expect(listen(listener, 0) == 0)
    var filling: [Int32] = []
    defer { for descriptor in filling { close(descriptor) } }
    for _ in 0..<4 { filling.append(try Loopback.connecting(to: port)) }
    let result = try await prober.check("tcp://127.0.0.1:\(port)", timeout: .milliseconds(300))
    #expect(result.state == .down)
    #expect(result.reason == .connectTimeout)
    #expect(result.duration >= .milliseconds(300))
  }

  @Test func aGreetingThatMatches() async throws {
    let server = try TCPServer { peer in
      Loopback.send(Array("220 mail.test ready\r\n".utf8), to: peer)
      TCPServer.untilClosed(peer)
    }
    let result = try await dialogue(server, expect: "^220 .*ready")
    #expect(result.state == .up)
    #expect(result.phases.map(\.name) == [.connect, .processing])
  }

  @Test func anEchoOfWhatWasSent() async throws {
    let server = try TCPServer { peer in
      Loopback.send(Loopback.receive(4_096, from: peer), to: peer)
      TCPServer.untilClosed(peer)
    }
    #expect(try await dialogue(server, send: "PING\r\n", expect: "^PING").state == .up)
  }

  @Test func sendingAloneIsEnough() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    #expect(try await dialogue(server, send: "QUIT\r\n").state == .up)
  }

  @Test func anAnswerInDropsIsMatchedInTheEnd() async throws {
    let server = try TCPServer { peer in
      for byte in Array(String(repeating: "x", count: 120).utf8) + Array("OK".utf8) { Loopback.send([byte], to: peer) }
      TCPServer.untilClosed(peer)
    }
    #expect(try await dialogue(server, expect: "OK").state == .up)
  }

  @Test func anAnswerThatDoesNotMatchBeforeTheEnd() async throws {
    let server = try TCPServer { Loopback.send(Array("500 no\r\n".utf8), to: $0) }
    let result = try await dialogue(server, expect: "^220")
    #expect(result.state == .down)
    #expect(result.reason == .noReply)
    #expect(result.detail?.contains("500") == false, "what was said is never repeated")
  }

  @Test func closedWithoutAWord() async throws {
    let server = try TCPServer { _ in }
    let result = try await dialogue(server, expect: "^220")
    #expect(result.state == .down)
    #expect(result.reason == .reset)
  }

  @Test func resetInsteadOfAnAnswer() async throws {
    let server = try TCPServer { peer in
      _ = Loopback.receive(1, from: peer)
      TCPServer.reset(peer)
    }
    let result = try await dialogue(server, send: "hello", expect: "^220")
    #expect(result.state == .down)
    #expect(result.reason == .reset)
  }

  @Test("An expected answer counts if a reset follows", arguments: [0, 200])
  func resetAfterTheAnswer(before: Int) async throws {
    let server = try TCPServer { peer in
      // Otherwise the text may wait for the acknowledgement of the bytes before, and the reset discards it.
      var isOn: Int32 = 1
      unsafe setsockopt(peer, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
      Loopback.send([UInt8](repeating: 0x78, count: before), to: peer)
      _ = Loopback.receive(5, from: peer)
      Loopback.send(Array("READY".utf8), to: peer)
      TCPServer.reset(peer)
    }
    for _ in 0..<20 {
      let result = try await dialogue(server, send: "hello", expect: "READY")
      #expect(result.state == .up, "\(result)")
    }
  }

  @Test("An answer that does not match counts as a reset if one follows")
  func resetAfterAnotherAnswer() async throws {
    let server = try TCPServer { peer in
      Loopback.send(Array("500".utf8), to: peer)
      _ = Loopback.receive(1, from: peer)
      TCPServer.reset(peer)
    }
    let result = try await dialogue(server, send: "hello", expect: "READY")
    #expect(result.state == .down && result.reason == .reset, "\(result)")
  }

  @Test("An expected greeting of a server that reads nothing")
  func greetingBeforeReset() async throws {
    let server = try TCPServer { peer in
      Loopback.send(Array("READY".utf8), to: peer)
      TCPServer.reset(peer)
    }
    // The client may still be sending when the reset arrives.
    let text = String(repeating: "x", count: 4 << 20)
    let result = try await dialogue(server, send: text, expect: "READY")
    #expect(result.state == .up, "\(result)")
  }

  @Test("An expected greeting before a reset that arrives before the check knows of its connection")
  func greetingAndReset() async throws {
    let server = try TCPServer { peer in
      Loopback.send(Array("READY".utf8), to: peer)
      TCPServer.reset(peer)
    }
    for _ in 0..<200 {
      let result = try await dialogue(server, expect: "READY")
      #expect(result.state == .up, "\(result)")
    }
  }

  @Test func silenceAfterTheConnection() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let result = try await dialogue(server, expect: "^220", timeout: .milliseconds(200))
    #expect(result.state == .down)
    #expect(result.reason == .noReply)
    #expect(result.phases.map(\.name) == [.connect])
  }

  @Test func anAnswerThatNeverEnds() async throws {
    let server = try TCPServer { peer in
      let bytes = [UInt8](repeating: 0x61, count: 4_096)
      for _ in 0..<64 { Loopback.send(bytes, to: peer) }
    }
    let result = try await dialogue(server, expect: "220")
    #expect(result.state == .down)
    #expect(result.reason == .noReply)
    #expect(result.detail?.contains("65536") == true)
  }

  @Test func anAnswerThatComesTooSlowly() async throws {
    let server = try TCPServer { peer in
      Loopback.send(Array("22".utf8), to: peer)
      TCPServer.untilClosed(peer)
    }
    let result = try await dialogue(server, expect: "^220", timeout: .milliseconds(200))
    #expect(result.state == .down)
    #expect(result.reason == .timeout)
  }

  @Test("An expensive expression is limited and its result unknown")
  func expensiveExpression() async throws {
    let server = try TCPServer { Loopback.send([UInt8](repeating: 0x61, count: 30_000), to: $0) }
    let result = try await dialogue(server, expect: "^(a+)+$b")
    #expect(result.state == .unknown)
    #expect(result.detail?.contains("cannot be found out") == true)
  }

  @Test("A slow name server is no failure of the target")
  func silentFamily() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let dns = try DNSServer { _, type in type == DNSMessage.a ? .addresses([[127, 0, 0, 1]]) : .silence }
    defer { dns.stop() }
    let slow = ProberUnderTest(asking: [dns])
    let result = try await slow.check("tcp://half.test:\(server.port)", timeout: .milliseconds(150))
    #expect(result.state == .unknown)
    #expect(result.reason == .dnsTimeout)
    #expect(try await slow.check("tcp://half.test:\(server.port)").state == .up)
  }

  @Test func aLoopbackSourceStaysHere() async throws {
    var asked = try request("tcp://192.0.2.1:80")
    asked.source = IPAddress("127.0.0.1")
    let result = try await prober.check(asked)
    #expect(result.state == .unreachable)
    #expect(result.reason == .noSource)
  }

  @Test func whatIsNoExpressionIsSaidSo() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let result = try await dialogue(server, expect: "(")
    #expect(result.state == .unknown)
    #expect(result.detail?.contains("not a regular expression") == true)
  }

  @Test("A connection to itself is refused")
  func selfConnection() async throws {
    // The kernel selects the source port; among so many attempts some select the destination's on most kernels.
    let port = try Loopback.closedPort()
    for _ in 0..<50 {
      #expect(try await prober.check("tcp://127.0.0.1:\(port)").reason == .refused)
    }
  }
}
