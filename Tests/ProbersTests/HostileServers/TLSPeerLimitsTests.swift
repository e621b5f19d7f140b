import Glibc
import Locks
import Probers
import ReachabilityModel
import TestSupport
import Testing

/// GnuTLS computes in one call as long as the server's group, key or certificate demands, whatever the check's timeout.
@Suite("Limits of what a TLS server costs", .serialized)
struct TLSPeerLimitsTests {
  static let versions = ["+VERS-TLS1.2", "+VERS-TLS1.3"]
  static let schemes = [CheckTarget.Scheme.tls, .https]

  let prober = ProberUnderTest()
  let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  /// The groups of key exchanges.
  private final class Groups: Sendable {
    let list = Locked<[String]>([])
    var all: [String] { list.withLock(\.self) }
  }

  private func check(_ scheme: CheckTarget.Scheme, _ port: UInt16) async throws -> CheckResult {
    var tls = TLSOptions()
    tls.authorityFile = authority.certificate
    var http = HTTPOptions()
    http.tls = tls
    return try await prober.check(
      "\(scheme.rawValue)://127.0.0.1:\(port)", scheme == .tls ? .tls(tls) : .http(http))
  }

  /// A server that answers each request, and records the groups of its key exchanges.
  private func server(_ priorities: String, key: String? = nil) throws -> (TLSServer, Groups) {
    let (certificate, file) = try key.map { try authority.issue("server", key: $0) } ?? authority.issue("server")
    let groups = Groups()
    let server = try TLSServer(certificate: certificate, key: file, priorities: priorities) { peer in
      groups.list.withLock { $0.append(peer.group) }
      guard !peer.receive().isEmpty else { return }
      peer.send("HTTP/1.1 204 No Content\r\n\r\n")
    }
    return (server, groups)
  }

  @Test("A server that prefers a large group gets an elliptic curve", arguments: versions, schemes)
  func preferredGroup(version: String, scheme: CheckTarget.Scheme) async throws {
    let order =
      "-GROUP-ALL:+GROUP-FFDHE8192:+GROUP-FFDHE2048:+GROUP-X25519:-KX-ALL:+DHE-RSA:+ECDHE-RSA:%SERVER_PRECEDENCE"
    let (server, groups) = try server("NORMAL:-VERS-ALL:\(version):\(order)", key: "rsa:2048")
    #expect(try await check(scheme, server.port).state == .up)
    try await waitUntil { groups.all == ["X25519"] }
  }

  @Test("A server that has finite fields only is down", arguments: versions, schemes)
  func onlyFiniteFields(version: String, scheme: CheckTarget.Scheme) async throws {
    let (server, groups) = try server(
      "NORMAL:-VERS-ALL:\(version):-GROUP-ALL:+GROUP-FFDHE2048:-KX-ALL:+DHE-RSA", key: "rsa:2048")
    let result = try await check(scheme, server.port)
    #expect(result.state == .down && result.reason == .tlsHandshake)
    #expect(result.detail?.contains("andshake failed") == true, "the server's alert: \(result.detail ?? "")")
    #expect(groups.all.isEmpty)
  }

  @Test("Groups of elliptic curves", arguments: ["SECP256R1", "SECP384R1", "SECP521R1", "X25519", "X448"], schemes)
  func curves(group: String, scheme: CheckTarget.Scheme) async throws {
    // Most of them make the server ask for a second ClientHello (RFC 8446 §4.1.4), which is no renegotiation.
    let (server, groups) = try server("NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-\(group)")
    #expect(try await check(scheme, server.port).state == .up)
    try await waitUntil { groups.all == [group] }
  }

  @Test("An RSA key with an exponent of 64 bits is accepted", arguments: versions, schemes)
  func permittedExponent(version: String, scheme: CheckTarget.Scheme) async throws {
    let (server, _) = try server(
      "NORMAL:-VERS-ALL:\(version)", key: "rsa:2048 -pkeyopt rsa_keygen_pubexp:18446744073709551557")
    #expect(try await check(scheme, server.port).state == .up)
  }

  @Test("An RSA key with an exponent of 65 bits is refused", arguments: versions, schemes)
  func refusedExponent(version: String, scheme: CheckTarget.Scheme) async throws {
    for kind in ["rsa:2048", "rsa-pss -pkeyopt rsa_keygen_bits:2048"] {
      let (server, _) = try server(
        "NORMAL:-VERS-ALL:\(version)", key: "\(kind) -pkeyopt rsa_keygen_pubexp:18446744073709551629")
      let result = try await check(scheme, server.port)
      #expect(result.state == .down && result.reason == .tlsHandshake)
      #expect(
        result.detail == "the key of the server's certificate has more than 16384 bits, or its exponent more than 64")
    }
  }

  @Test("A key exchange that encrypts with the server's key is limited by the key", arguments: schemes)
  func encryption(scheme: CheckTarget.Scheme) async throws {
    let priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+RSA"
    let (small, _) = try server(priorities, key: "rsa:2048")
    #expect(try await check(scheme, small.port).state == .up)
    let (large, _) = try server(priorities, key: "rsa:2048 -pkeyopt rsa_keygen_pubexp:18446744073709551629")
    #expect(try await check(scheme, large.port).detail?.contains("16384 bits") == true)
  }

  @Test("A key is refused by its size before it is used", arguments: [16_384, 16_385, 65_536, 400_000], schemes)
  func keySize(bits: Int, scheme: CheckTarget.Scheme) async throws {
    let certificate = RawCertificate(modulusBits: bits)
    let server = try TCPServer { peer in
      _ = Loopback.receive(4_096, from: peer)
      Loopback.send(certificate.handshake, to: peer)
    }
    let result = try await check(scheme, server.port)
    #expect(result.state == .down)
    // The server closes the connection before it has used the permitted key.
    #expect(result.detail?.contains("16384 bits") == (bits > 16_384), "\(result.detail ?? "")")
  }

  @Test("A handshake in large messages is refused", arguments: schemes)
  func messageSize(scheme: CheckTarget.Scheme) async throws {
    let certificate = RawCertificate(modulusBits: 2_048, names: 6_000)
    #expect(certificate.message.count > 65_536)
    let server = try TCPServer { peer in
      _ = Loopback.receive(4_096, from: peer)
      Loopback.send(certificate.handshake, to: peer)
      TCPServer.untilClosed(peer)
    }
    let result = try await check(scheme, server.port)
    #expect(result.state == .down && result.reason == .tlsHandshake)
    #expect(result.detail?.contains("too large") == true, "\(result.detail ?? "")")
  }

  @Test("A message without end in records of one byte delays no other check", arguments: schemes)
  func smallestRecords(scheme: CheckTarget.Scheme) async throws {
    let head = [11, 255, 255, 255].flatMap { RawCertificate.record([$0]) }
    let records = Array(repeating: RawCertificate.record([0]), count: 10_000).flatMap(\.self)
    let isOver = Locked(false)
    defer { isOver.withLock { $0 = true } }
    let server = try TCPServer { peer in
      _ = Loopback.receive(4_096, from: peer)
      Loopback.send(RawCertificate.serverHello + head, to: peer)
      while !isOver.withLock(\.self), unsafe Glibc.send(peer, records, records.count, Int32(MSG_NOSIGNAL)) > 0 {}
    }
    let results = Results()
    let text = "\(scheme.rawValue)://127.0.0.1:\(server.port)"
    let cancellation = prober.prober.check(try request(text), results.take)
    try await waitUntil { server.connections == 1 }
    for _ in 0..<20 { #expect(try await prober.check("tcp://127.0.0.1:\(server.port)").state == .up) }
    cancellation.cancel()
    let result = try #require(try await results.wait(for: 1).first)
    if scheme == .https {
      #expect(
        [Reason.tlsHandshake, .cancelled].contains(result.reason),
        "libcurl ends the handshake, unless the other checks were faster")
    }
  }

  @Test(
    "Messages without end during the handshake", arguments: [[21, 1, 90], [22, 0, 0, 0, 0], [20, 1]] as [[UInt8]],
    schemes)
  func flood(content: [UInt8], scheme: CheckTarget.Scheme) async throws {
    let record = RawCertificate.record(Array(content.dropFirst()), type: content[0])
    let flood = Array(repeating: record, count: 1_000).flatMap(\.self)
    let isOver = Locked(false)
    defer { isOver.withLock { $0 = true } }
    let server = try TCPServer { peer in
      _ = Loopback.receive(4_096, from: peer)
      Loopback.send(RawCertificate.serverHello, to: peer)
      while !isOver.withLock(\.self), unsafe Glibc.send(peer, flood, flood.count, Int32(MSG_NOSIGNAL)) > 0 {}
    }
    let result = try await check(scheme, server.port)
    #expect(result.state == .down && result.reason == .tlsHandshake, "\(result.detail ?? "")")
  }
}

/// The beginning of a TLS 1.2 handshake whose certificate no key can have signed.
private struct RawCertificate {
  /// The Certificate message.
  let message: [UInt8]

  init(modulusBits: Int, names: Int = 1) {
    let modulus =
      [UInt8(1) << UInt8((modulusBits - 1) % 8)] + Array(repeating: UInt8(0xab), count: (modulusBits - 1) / 8)
    let rsa: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00]
    let sha256RSA = Self.tagged(0x30, [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b, 0x05, 0x00])
    let name = Self.tagged(
      0x30, Self.tagged(0x31, Self.tagged(0x30, [0x06, 0x03, 0x55, 0x04, 0x03] + Self.tagged(0x0c, Array("a".utf8)))))
    let dates = Self.tagged(
      0x30, Self.tagged(0x17, Array("250101000000Z".utf8)) + Self.tagged(0x17, Array("490101000000Z".utf8)))
    let key = Self.tagged(0x30, Self.tagged(0x02, [0] + modulus) + Self.tagged(0x02, [1, 0, 1]))
    let info = Self.tagged(0x30, Self.tagged(0x30, rsa) + Self.tagged(0x03, [0] + key))
    let list = Self.tagged(0x30, (0..<names).flatMap { Self.tagged(0x82, Array("\($0).test".utf8)) })
    let extensions = Self.tagged(
      0xa3, Self.tagged(0x30, Self.tagged(0x30, [0x06, 0x03, 0x55, 0x1d, 0x11] + Self.tagged(0x04, list))))
    let version = Self.tagged(0xa0, Self.tagged(0x02, [2]))
    let body = Self.tagged(
      0x30, version + Self.tagged(0x02, [5]) + sha256RSA + name + dates + name + info + extensions)
    let signature = Self.tagged(0x03, Array(repeating: 0, count: 257))
    let certificate = Self.tagged(0x30, body + sha256RSA + signature)
    message = Self.message(11, Self.sized(Self.sized(certificate)))
  }

  /// A ServerHello and the certificate.
  var handshake: [UInt8] { Self.serverHello + Self.records(message) }

  /// TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 without extensions but the one for secure renegotiation.
  static let serverHello = records(
    message(2, [3, 3] + Array(repeating: 7, count: 32) + [0, 0xc0, 0x2f, 0, 0, 5, 0xff, 1, 0, 1, 0]))

  static func record(_ content: some Collection<UInt8>, type: UInt8 = 22) -> [UInt8] {
    [type, 3, 3, UInt8(content.count >> 8), UInt8(content.count & 255)] + content
  }

  private static func records(_ message: [UInt8]) -> [UInt8] {
    stride(from: 0, to: message.count, by: 16_384).flatMap { record(message[$0..<min($0 + 16_384, message.count)]) }
  }

  private static func message(_ type: UInt8, _ body: [UInt8]) -> [UInt8] { [type] + sized(body) }

  /// With its length in three bytes.
  private static func sized(_ body: [UInt8]) -> [UInt8] {
    [UInt8(body.count >> 16), UInt8(body.count >> 8 & 255), UInt8(body.count & 255)] + body
  }

  /// With a tag and its length (X.690, DER).
  private static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    if content.count < 128 { return [tag, UInt8(content.count)] + content }
    let digits = [UInt8](sized(content).prefix(3).drop { $0 == 0 })
    return [tag, 0x80 | UInt8(digits.count)] + digits + content
  }
}
