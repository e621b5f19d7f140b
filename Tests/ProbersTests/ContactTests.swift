import Glibc
import HostResolver
import Probers
import ReachabilityModel
import TestSupport
import Testing

@Suite("No spelling of a denied host is contacted")
struct ContactTests {
  /// Spellings that have been used to reach 127.0.0.1, a metadata service, or this machine.
  static let spellings = [
    "tcp://127.0.0.1:80", "tcp://127.0.0.2:80", "tcp://127.255.255.254:80", "tcp://2130706433:80",
    "tcp://0x7f000001:80",
    "tcp://0x7f.0.0.1:80", "tcp://0x7F.0x0.0x0.0x1:80", "tcp://017700000001:80", "tcp://0177.0.0.1:80",
    "tcp://0177.0.0.01:80", "tcp://127.1:80", "tcp://127.0.1:80", "tcp://127.0.0.1.:80", "tcp://127.000.000.001:80",
    "tcp://00000177.0.0.1:80", "tcp://127.0.0.0x1:80", "tcp://4278255873:80", "tcp://0:80", "tcp://0.0.0.0:80",
    "tcp://0x0:80", "tcp://00.0:80", "tcp://[::]:80", "tcp://[::1]:80", "tcp://[0:0:0:0:0:0:0:1]:80",
    "tcp://[0000::0001]:80", "tcp://[::127.0.0.1]:80", "tcp://[::ffff:127.0.0.1]:80", "tcp://[::ffff:7f00:1]:80",
    "tcp://[0:0:0:0:0:ffff:127.0.0.1]:80", "tcp://[::FFFF:7F00:0001]:80", "tcp://[::ffff:0:127.0.0.1]:80",
    "tcp://[::1%lo]:80", "tcp://[::1%25lo]:80", "tcp://[fe80::1%lo]:80", "tcp://[64:ff9b::127.0.0.1]:80",
    "tcp://[64:ff9b::7f00:1]:80", "tcp://[64:ff9b::a9fe:a9fe]:80", "tcp://[64:ff9b:1::7f00:1]:80",
    "tcp://[2002:7f00:1::]:80", "tcp://[2002:7f00:1::7f00:1]:80", "tcp://[2001:0:7f00:1::]:80",
    "tcp://[2001:0:808:808::80ff:fffe]:80", "tcp://[2606:4700::5efe:7f00:1]:80", "tcp://169.254.169.254:80",
    "tcp://2852039166:80", "tcp://0xa9fea9fe:80", "tcp://0251.0376.0251.0376:80", "tcp://169.254.43518:80",
    "tcp://[::ffff:169.254.169.254]:80", "tcp://[::ffff:a9fe:a9fe]:80", "tcp://[fd00:ec2::254]:80",
    "tcp://100.100.100.200:80", "tcp://168.63.129.16:80", "tcp://224.0.0.1:80", "tcp://255.255.255.255:80",
    "tcp://240.0.0.1:80", "tcp://[ff02::1%lo]:80", "tcp://[fec0::1]:80", "tcp://ⓛocalhost:80", "tcp://①②⑦.⓪.⓪.①:80",
    "tcp://127。0。0。1:80", "tcp://１２７.0.0.1:80", "http://user@127.0.0.1/", "http://1.1.1.1@127.0.0.1/",
    "http://127.0.0.1#@1.1.1.1/", "http://1.1.1.1:80@127.0.0.1/", "http://127.0.0.1:80\\@1.1.1.1/",
    "http://%31%32%37.0.0.1/", "http://127.0.0.1%00.test/", "http://127.0.0.1%2f.test/", "http://[::1]/",
    "http://[::ffff:127.0.0.1]/", "https://0x7f.1/", "tls://127.0.0.1:443", "icmp://127.0.0.1", "icmp://::1",
    "icmp://169.254.169.254", "dns://127.0.0.53/a.test", "dns://[::1]/a.test", "tcp://localhost:80",
    "tcp://localhost.:80", "tcp://LOCALHOST:80",
  ]

  @Test("Each spelling is invalid or denied", arguments: spellings)
  func spelling(text: String) async throws {
    let target: CheckTarget
    do throws(TargetError) {
      target = try CheckTarget(text)
    } catch {
      return
    }
    let prober = ProberUnderTest()
    let result = try await prober.check(CheckRequest(target, timeout: patience, policy: ContactPolicy()))
    #expect(result.state == .unknown)
    #expect(result.reason == .policyDenied)
    #expect(result.address == nil)
    #expect(result.phases.isEmpty, "a denial tells nothing about the DNS")
  }

  static let hidden: [[UInt8]] = [
    [127, 0, 0, 1], [169, 254, 169, 254], [0, 0, 0, 0], [100, 64, 0, 1],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1], [UInt8](repeating: 0, count: 15) + [1],
    [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0, 169, 254, 169, 254],
  ]

  @Test("A name of a denied address is not contacted", arguments: hidden)
  func nameOfAForbiddenHost(address: [UInt8]) async throws {
    let dns = try DNSServer { _, _ in .addresses([address]) }
    defer { dns.stop() }
    let prober = ProberUnderTest(asking: [dns])
    let result = try await prober.check("tcp://inside.test:80", policy: ContactPolicy())
    #expect(result.reason == .policyDenied)
    #expect(result.phases.isEmpty)
    #expect(result.duration == .zero)
  }

  @Test("A name is resolved once (DNS rebinding)")
  func rebinding() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    // Only the first answer has the permitted address: a second resolution would return 127.0.0.1.
    let dns = try DNSServer { _, _ in .addresses([[127, 0, 0, 7]], timeToLive: 0) }
    defer { dns.stop() }
    let prober = ProberUnderTest(asking: [dns])
    let policy = ContactPolicy(allow: [IPPrefix(IPAddress(ipv4: 0x7f00_0007), length: 32)])
    let text = "tcp://flip.test:\(server.port)"
    // With data to send, so that a server would receive it.
    let hello = CheckModule.Options.tcp(TCPOptions(send: "hello"))
    let first = try await prober.check(text, hello, policy: policy)
    #expect(first.reason == .refused, "the server is at 127.0.0.1, not at .7")
    #expect(first.address == IPAddress("127.0.0.7"))
    dns.answer { _, _ in .addresses([[127, 0, 0, 1]], timeToLive: 0) }
    prober.resolver.flush()
    #expect(try await prober.check(text, hello, policy: policy).reason == .policyDenied)
    #expect(server.connections == 0)
  }

  @Test("Only the permitted addresses of a name are contacted")
  func someAllowed() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let dns = try DNSServer { _, _ in .addresses([[127, 0, 0, 9], [127, 0, 0, 1]]) }
    defer { dns.stop() }
    let prober = ProberUnderTest(asking: [dns])
    let policy = ContactPolicy(allow: [IPPrefix(IPAddress(ipv4: 0x7f00_0001), length: 32)])
    let result = try await prober.check("tcp://some.test:\(server.port)", policy: policy)
    #expect(result.state == .up)
    #expect(result.address == IPAddress("127.0.0.1"))
  }

  @Test("Permitted targets work with and without a policy")
  func allowed() async throws {
    let server = try TCPServer(TCPServer.untilClosed)
    let prober = ProberUnderTest()
    let policy = ContactPolicy(allow: [IPPrefix(IPAddress(ipv4: 0x7f00_0000), length: 8)])
    for text in ["127.0.0.1", "localhost", "localhost."] {
      for policy in [policy, nil] {
        var asked = try request("tcp://\(text):\(server.port)", policy: policy)
        asked.family = .ipv4
        #expect(try await prober.check(asked).state == .up)
      }
    }
    // No list permits the service's own port.
    var closed = policy
    closed.ownPorts = [server.port]
    #expect(try await prober.check("tcp://127.0.0.1:\(server.port)", policy: closed).reason == .policyDenied)
  }
}
