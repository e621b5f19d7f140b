import Glibc
import TestSupport
import Testing

/// All local ports towards a server are in use: a shortage of this machine, and no missing route.
@Suite(.needsNamespaces) struct PortShortageTests {
  private let pair: VethPair
  private let server: Int32
  private let port: UInt16

  init() throws {
    let pair = try VethPair()
    self.pair = pair
    let (server, port) = try pair.router.run { () throws(TestError) in
      let server = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard server >= 0, listen(server, 1024) == 0 else { throw TestError("listen: \(errno)") }
      var address = sockaddr_in6()
      var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
      let named = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(server, $0, &length) }
      }
      guard named == 0 else { throw TestError("getsockname: \(errno)") }
      return (server, UInt16(bigEndian: address.sin6_port))
    }
    (self.server, self.port) = (server, port)
  }

  @Test func usedUpPortsAreAShortageOfThisMachine() throws {
    defer { close(server) }
    let client = pair.client
    let daemon = try DaemonUnderTest(in: client)
    func check(_ target: String, _ parameters: String = "") throws -> JSONValue {
      try daemon.get("/check?target=\(target)&timeout=1s\(parameters)").json
    }
    let hosts = ["10.9.0.1", "[fd09::1]"]
    for host in hosts { #expect(try check("tcp://\(host):\(port)")["state"] == "up") }
    try client.run("/bin/sh", ["-c", "echo 40000 40255 >/proc/sys/net/ipv4/ip_local_port_range"])
    let held = try client.holdConnections(to: ["10.9.0.1", "fd09::1"], port: port)
    defer { for descriptor in held { close(descriptor) } }
    for (host, source) in [("10.9.0.1", "10.9.0.2"), ("[fd09::1]", "fd09::2")] {
      for scheme in ["tcp", "tls", "http", "https"] {
        for parameters in ["", "&source=\(source)", "&interface=c0", "&source=\(source)&interface=c0"] {
          let answer = try check("\(scheme)://\(host):\(port)", parameters)
          let comment = "\(scheme) \(host) \(parameters): \(answer)"
          #expect(answer["state"] == "unknown" && answer["reason"] == "cancelled", "\(comment)")
          #expect(answer["detail"]?.text?.contains("ports") == true, "\(comment)")
        }
      }
    }
    // Without an address there is no source, whatever the ports.
    try client.ip("-6 addr flush dev c0")
    try client.ip("-6 route add fd09::/64 dev c0")
    let answer = try check("tcp://[fd09::1]:\(port)")
    #expect(answer["state"] == "unreachable" && answer["reason"] == "noSource", "\(answer)")
  }
}

extension Namespace {
  /// Opens connections until no port is left.
  fileprivate func holdConnections(to hosts: [String], port: UInt16) throws(TestError) -> [Int32] {
    try run { () throws(TestError) in
      var held: [Int32] = []
      for host in hosts {
        let isIPv6 = host.contains(":")
        for _ in 0..<300 {
          let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
          guard descriptor >= 0 else { throw TestError("socket: \(errno)") }
          held.append(descriptor)
          guard Self.connected(descriptor, host, isIPv6, port) else { break }
        }
      }
      return held
    }
  }

  private static func connected(_ descriptor: Int32, _ host: String, _ isIPv6: Bool, _ port: UInt16) -> Bool {
    var storage = sockaddr_storage()
    return unsafe withUnsafeMutableBytes(of: &storage) { raw in
      guard let start = raw.baseAddress else { return false }
      unsafe raw.storeBytes(of: sa_family_t(isIPv6 ? AF_INET6 : AF_INET), as: sa_family_t.self)
      unsafe raw.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
      unsafe inet_pton(isIPv6 ? AF_INET6 : AF_INET, host, start + (isIPv6 ? 8 : 4))
      let length = socklen_t(isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
      return unsafe Glibc.connect(descriptor, start.assumingMemoryBound(to: sockaddr.self), length) == 0
    }
  }
}
