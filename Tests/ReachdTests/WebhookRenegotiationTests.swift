import Glibc
import Locks
import TestSupport
import Testing

/// Receivers of webhooks share a thread; libcurl makes a TLS renegotiation in one call.
@Suite("Webhooks and a receiver that asks for a TLS renegotiation")
struct WebhookRenegotiationTests {
  /// Webhooks trust the authorities of the system only, which the test replaces in a mount namespace.
  private static let bundle = "/etc/ssl/certs/ca-certificates.crt"
  static let isPossible = getuid() == 0 && (unsafe access(bundle, R_OK)) == 0

  @Test("The other receiver gets its events while this one is silent", .enabled(if: isPossible))
  func silence() throws {
    let directory = try TemporaryDirectory()
    let authority = try TestAuthority()
    let (certificate, key) = try authority.issue("receiver")
    let (asked, released) = (Latch(), Latch())
    defer { released.open() }
    let silent = try TLSServer(certificate: certificate, key: key, priorities: "NORMAL:-VERS-ALL:+VERS-TLS1.2") {
      peer in
      _ = peer.receive()
      peer.requestRenegotiation()
      asked.open()
      _ = released.wait(atMost: patience + patience)
    }
    let received = Locked(0)
    let other = try TLSServer(certificate: certificate, key: key) { peer in
      guard !peer.receive().isEmpty else { return }
      received.withLock { $0 += 1 }
      peer.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
    }
    let secret = try directory.write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", as: "secret")
    func webhook(_ id: String, _ port: UInt16) -> String {
      "{ id: \(id), url: \"https://127.0.0.1:\(port)/\", secretFile: \(secret), types: [target], timeout: 30s }"
    }
    let targets = try Loopback.closedPorts(4).enumerated().map { index, port in
      "{ id: t\(index), target: \"tcp://127.0.0.1:\(port)\", interval: 500ms, timeout: 400ms, fall: \(index * 3 + 1) }"
    }
    let configuration = try TemporaryFile(
      """
      policy: { allow: [127.0.0.0/8] }
      data: \(directory.path)/data
      webhooks: [\(webhook("silent", silent.port)), \(webhook("other", other.port))]
      targets: [\(targets.joined(separator: ", "))]
      """)
    let service = try RunningService(
      ["--drain-delay", "0s", "--config", configuration.path],
      under: [
        "/usr/bin/unshare", "-m", "/bin/sh", "-c",
        "mount --bind \(authority.certificate) \(Self.bundle) && exec \"$@\"", "sh",
      ])
    #expect(eventually(within: patience) { asked.wait(atMost: .zero) }, "\(service.child.errors)")
    let before = received.withLock(\.self)
    // The other targets fail later.
    #expect(eventually(within: patience) { received.withLock(\.self) >= max(4, before + 1) })
    let deliveries = try Child("/usr/bin/curl", ["-s", "\(service.url)/webhooks/silent"])
    #expect(try deliveries.wait() == .exited(0))
    #expect(deliveries.output.contains("asked for a TLS renegotiation"), "\(deliveries.output)")
    #expect(try service.terminate() == .exited(0))
  }
}
