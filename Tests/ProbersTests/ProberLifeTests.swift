import Glibc
import Locks
import HostResolver
import Probers
import ReachabilityModel
import TestSupport
import Testing

@Suite("Lifetime of a prober")
struct ProberLifeTests {
  @Test func aThousandAtOnce() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let prober = ProberUnderTest()
    let results = Results()
    for index in 0..<1_000 {
      // Sixteen addresses, so that the limit of one is reached and exceeded.
      prober.prober.check(try request("tcp://127.0.0.\(index % 16 + 1):\(server.port)"), results.take)
    }
    let all = try await results.wait(for: 1_000)
    #expect(all.count == 1_000)
    #expect(all.count { $0.state == .up } == (0..<1_000).count { $0 % 16 == 0 })
    #expect(all.count { $0.reason == .refused } == (0..<1_000).count { $0 % 16 != 0 })
  }

  @Test func oneAddressIsNotFlooded() async throws {
    let most = Locked((now: 0, most: 0))
    let server = try TCPServer { peer in
      most.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      Loopback.send(Array("ready".utf8), to: peer)
      TCPServer.untilClosed(peer)
      most.withLock { $0.now -= 1 }
    }
    let prober = ProberUnderTest()
    let results = Results()
    for _ in 0..<200 {
      prober.prober.check(
        try request("tcp://127.0.0.1:\(server.port)", .tcp(TCPOptions(expect: "ready"))), results.take)
    }
    let all = try await results.wait(for: 200)
    #expect(all.allSatisfy { $0.state == .up })
    // The server sees the end a moment after the prober closes.
    #expect(most.withLock { $0.most } <= 64)
  }

  @Test func anAddressWithoutAWayIsNotAsked() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let prober = ProberUnderTest()
    let results = Results()
    prober.prober.check(try request("tcp://127.0.0.1:\(server.port)"), where: { _, _ in .noRoute }, results.take)
    let result = try #require(try await results.wait(for: 1).first)
    #expect(result.state == .unreachable && result.reason == .noRoute && result.address == IPAddress("127.0.0.1"))
    #expect(result.phases.isEmpty && server.connections == 0)
    prober.prober.check(
      try request("tcp://127.0.0.1:\(server.port)"),
      where: { $0 == IPAddress("127.0.0.1") && $1 == server.port ? .allowed : .noRoute }, results.take)
    #expect(try await results.wait(for: 2).last?.state == .up)
    prober.prober.check(try request("tcp://localhost:\(server.port)"), where: { _, _ in .denied }, results.take)
    let denied = try #require(try await results.wait(for: 3).last)
    #expect(denied.state == .unknown && denied.reason == .policyDenied && denied.address == nil)
    #expect(denied.duration == .zero)
  }

  @Test func cancelling() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let prober = ProberUnderTest()
    let results = Results()
    let check = prober.prober.check(
      try request("tcp://127.0.0.1:\(server.port)", .tcp(TCPOptions(expect: "never"))), results.take)
    try await waitUntil { server.connections == 1 }
    check.cancel()
    let result = try await results.wait(for: 1)[0]
    #expect(result.state == .unknown)
    #expect(result.reason == .cancelled)
    check.cancel()
    #expect(try await prober.check("tcp://127.0.0.1:\(server.port)").state == .up)
    #expect(results.all.count == 1)
  }

  @Test func cancellingWhileTheNameIsResolved() async throws {
    let dns = try DNSServer { _, _ in .silence }
    defer { dns.stop() }
    let prober = ProberUnderTest(asking: [dns])
    let results = Results()
    let check = prober.prober.check(try request("tcp://silent.test:80"), results.take)
    try await waitUntil { dns.total > 0 }
    check.cancel()
    #expect(try await results.wait(for: 1)[0].reason == .cancelled)
  }

  @Test func stoppingEndsEverything() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let prober = ProberUnderTest()
    let results = Results()
    for _ in 0..<100 {
      prober.prober.check(
        try request("tcp://127.0.0.1:\(server.port)", .tcp(TCPOptions(expect: "never"))), results.take)
    }
    prober.prober.stop()
    #expect(results.all.count == 100)
    #expect(results.all.allSatisfy { $0.reason == .cancelled })
    prober.prober.check(try request("tcp://127.0.0.1:\(server.port)"), results.take)
    #expect(results.all.count == 101)
    prober.prober.stop()
  }

  @Test func aCompletionMayLetTheProberGo() async throws {
    let done = Locked(false)
    let held = Locked<ProberUnderTest?>(ProberUnderTest())
    let asked = try request("tcp://127.0.0.1:\(Loopback.closedPort())")
    let prober = held.withLock { $0 }
    prober?.prober.check(asked) { _ in
      held.withLock { $0 = nil }
      done.withLock { $0 = true }
    }
    try await waitUntil { done.withLock { $0 } }
  }

  @Test func completionsOnTwoThreadsMayBothStopIt() async throws {
    let underTest = ProberUnderTest()
    let prober = underTest.prober
    let arrived = Locked(0)
    let left = Locked(2)
    // One on the thread of the sockets, one on a thread of echoes: both run a completion when the first stops.
    for target in ["tcp://127.0.0.1:\(try Loopback.closedPort())", "icmp://127.0.0.1"] {
      prober.check(try request(target)) { _ in
        arrived.withLock { $0 += 1 }
        guard TestSupport.eventually({ arrived.withLock { $0 } == 2 }) else { return }
        prober.stop()
        left.withLock { $0 -= 1 }
      }
    }
    try await waitUntil { left.withLock { $0 } == 0 }
    withExtendedLifetime(underTest) {}
  }

  @Test("A delay of the thread is not the server's time, for libcurl as well", arguments: ["http", "tcp"])
  func delay(scheme: String) async throws {
    let (asked, delayed) = (Latch(), Latch())
    let slow = try TCPServer { peer in
      if scheme == "http" { _ = Loopback.receive(4_096, from: peer) }
      asked.open()
      _ = delayed.wait(atMost: patience)
      Loopback.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8), to: peer)
      TCPServer.untilClosed(peer)
    }
    let prober = ProberUnderTest()
    let results = Results()
    prober.prober.check(
      try request(
        "\(scheme)://127.0.0.1:\(slow.port)", scheme == "http" ? .http(HTTPOptions()) : .tcp(TCPOptions(expect: "OK")),
        timeout: .seconds(1)), results.take)
    try await waitUntil { asked.wait(atMost: .zero) }
    prober.prober.check(try request("tcp://127.0.0.1:\(Loopback.closedPort())")) { _ in
      // On the prober's thread, longer than the timeout of the first check.
      _ = Latch().wait(atMost: .milliseconds(1_500))
      delayed.open()
    }
    #expect(try await results.wait(for: 1)[0].state == .up)
  }

  @Test(.enabled(if: Namespace.isSupported)) func noDescriptorStaysOpen() throws {
    let namespace = try Namespace()
    try namespace.unshareDescriptors()
    let counts = try namespace.run { () throws -> (Int, Int) in
      let before = Namespace.openFileCount()
      do {
        let resolver = Resolver()
        let prober = SocketProber(resolver: resolver)
        let left = Locked(50)
        for _ in 0..<50 {
          prober.check(try request("tcp://127.0.0.1:9")) { _ in left.withLock { $0 -= 1 } }
        }
        _ = TestSupport.eventually { left.withLock { $0 } == 0 }
        #expect(left.withLock { $0 } == 0)
        prober.stop()
        resolver.stop()
      }
      return (before, Namespace.openFileCount())
    }
    #expect(counts.0 == counts.1)
  }

  @Test("Invalid requests are refused immediately", arguments: [0, 1, 2])
  func refusedAtOnce(index: Int) throws {
    let asked = [
      CheckRequest(try CheckTarget("tcp://127.0.0.1:1"), module: CheckModule.standard(for: .icmp)),
      CheckRequest(CheckTarget(.tcp, host: .default, port: 1)),
      CheckRequest(CheckTarget(.tcp, host: try ReachabilityTarget(host: "127.0.0.1"))),
    ][index]
    let results = Results()
    ProberUnderTest().prober.check(asked, results.take)
    #expect(results.all.count == 1)
    #expect(results.all.first?.state == .unknown)
    #expect(results.all.first?.detail?.isEmpty == false)
  }
}
