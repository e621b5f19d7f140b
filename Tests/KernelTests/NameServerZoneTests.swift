import Glibc
import TestSupport
import Testing

/// A name server with a link-local address, as router advertisements announce them (RFC 8106).
@Suite(.needsNamespaces) struct NameServerZoneTests {
  /// Answers one question after another with the addresses of the family that is asked for, until the socket is shut down.
  private static func serve(_ descriptor: Int32) {
    var peer = sockaddr_in6()
    while true {
      var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
      let (bytes, size) = unsafe withUnsafeMutablePointer(to: &peer) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
          var received = 0
          let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1_500) { buffer, filled in
            unsafe received = recvfrom(descriptor, buffer.baseAddress, buffer.count, 0, raw, &length)
            filled = max(0, received)
          }
          return (bytes, received)
        }
      }
      guard size > 0 else { return }
      guard let message = DNSMessage(query: bytes) else { continue }
      let isIPv4 = message.type == DNSMessage.a
      let data: [UInt8] = isIPv4 ? [192, 0, 2, 7] : [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [7]
      let answer = message.answer(address: data)
      unsafe withUnsafeMutablePointer(to: &peer) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
          _ = unsafe sendto(descriptor, answer, answer.count, 0, raw, length)
        }
      }
    }
  }

  @Test func serverWithAZoneIsQueried() throws {
    let pair = try VethPair()
    try pair.router.ip("addr add fe80::53/64 dev r0 nodad")
    try pair.client.ip("addr add fe80::2/64 dev c0 nodad")
    let (descriptor, port) = try pair.router.run { () throws(TestError) in
      let descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
      let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
          unsafe bind(descriptor, raw, length) == 0 ? getsockname(descriptor, raw, &length) : -1
        }
      }
      guard code == 0 else { throw TestError("bind: \(errno)") }
      return (descriptor, UInt16(bigEndian: address.sin6_port))
    }
    Loopback.thread { Self.serve(descriptor) }
    defer {
      shutdown(descriptor, Int32(SHUT_RDWR))
      close(descriptor)
    }
    let daemon = try DaemonUnderTest(
      in: pair.client, configuration: "resolver: {servers: [\"[fe80::53%c0]:\(port)\"]}\n")
    let answer = try daemon.get("/hosts/db.test?timeout=5s").json
    #expect(answer["phase"] == "resolved", "\(answer)")
    let addresses = (0..<2).compactMap { answer["addresses"]?[$0]?["address"]?.text }
    #expect(Set(addresses) == ["192.0.2.7", "2001:db8::7"], "\(answer)")
  }
}
