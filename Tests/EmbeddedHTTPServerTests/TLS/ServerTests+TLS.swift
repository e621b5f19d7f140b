import EventLoop
import Foundation
import TestSupport
import Testing

@testable import EventStreams
@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("TLS")
  struct TLS {
    static let authority = Result { () throws(TestError) in try TestAuthority() }

    let authority: TestAuthority

    init() throws { authority = try Self.authority.get() }

    func identity(_ name: String, key: String = "ec -pkeyopt ec_paramgen_curve:P-256") throws -> ServerTLSIdentity {
      let files = try authority.issue(name, key: key)
      return try Self.identity(files.certificate, files.key)
    }

    private static func identity(_ certificate: String, _ key: String) throws -> ServerTLSIdentity {
      try ServerTLSIdentity(certificate: bytes(certificate), privateKey: bytes(key))
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
      Array(try Data(contentsOf: URL(filePath: path)))
    }

    /// A client that is not ours.
    private func curl(_ fixture: Fixture, _ arguments: String = "") throws -> Child {
      let url = "https://localhost:\(fixture.address.port)/path"
      return try Child("/bin/sh", ["-c", "exec curl -sSN --cacert '\(authority.certificate)' \(arguments) \(url)"])
    }

    /// The common name that a new connection is shown.
    private func shownName(_ fixture: Fixture) throws -> String {
      let child = try curl(fixture, "-v -o /dev/null")
      try child.wait()
      let line = child.errors.split(separator: "\n").first { $0.contains("subject: ") } ?? ""
      return line.split(separator: "=").last.map { $0.filter { $0 != " " } } ?? child.errors
    }

    @Test(
      "Requests over TLS are answered as without TLS", arguments: ["ec -pkeyopt ec_paramgen_curve:P-256", "rsa:2048"])
    func requests(key: String) throws {
      let identity = try identity("localhost", key: key)
      let fixture = try Fixture(configure: { $0.identity = identity })
      #expect(fixture.server.isSecure)
      for option in ["--tlsv1.3", "--tls-max 1.2", "-d body"] {
        let child = try curl(fixture, option)
        #expect(try child.wait() == .exited(0), "\(child.errors)")
        #expect(child.output.contains("/path [] localhost:\(fixture.address.port)"))
        #expect(child.output.hasSuffix(option == "-d body" ? "body" : " "))
      }
      #expect(fixture.server.counters.requests == 3)
    }

    @Test("Data that follows the handshake is read immediately", arguments: ["--tlsv1.3", "--tls-max 1.2"])
    func promptHandshakes(option: String) throws {
      let identity = try identity("localhost")
      // Who is not woken by it would be too late for the head's time.
      let fixture = try Fixture(configure: {
        $0.identity = identity
        $0.handshakePause = 60_000
      })
      for _ in 0..<3 {
        let child = try curl(fixture, option)
        #expect(try child.wait() == .exited(0), "\(child.errors)")
      }
      #expect(fixture.server.counters.expired == 0)
    }

    @Test("Old TLS versions, other protocols and plain HTTP are rejected")
    func refusals() throws {
      let identity = try identity("localhost")
      let fixture = try Fixture(configure: { $0.identity = identity })
      for option in [
        "--tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0", "--cacert /dev/null", "--tls-max 1.2 --ciphers AES128-SHA",
      ] {
        #expect(try curl(fixture, option).wait() != .exited(0), "\(option)")
      }
      #expect(try fixture.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").contains("HTTP/1.1") == false)
      #expect(fixture.server.counters.requests == 0)
    }

    @Test("A replaced certificate applies to new connections only")
    func renewal() throws {
      let (old, new) = (try identity("old"), try identity("new"))
      let log = EventLog()
      let fixture = try Fixture(configure: { $0.identity = old }, handler: Fixture.follow(log))
      let stream = try curl(fixture)
      #expect(eventually { stream.output == "hello\n" }, "\(stream.errors)")
      fixture.server.replaceIdentity(new)
      log.append(id: 1, kind: 0, bytes: Array("after\n".utf8))
      #expect(eventually { stream.output == "hello\nafter\n" })
      fixture.server.endStreams(closeEvent: Array("bye\n".utf8))
      #expect(try stream.wait() == .exited(0), "\(stream.errors)")
      #expect(stream.output == "hello\nafter\nbye\n")
      #expect(try shownName(fixture) == "new")
    }

    @Test("A TLS stream receives every entry, its end is detected")
    func streams() throws {
      let identity = try identity("localhost")
      let log = EventLog()
      let fixture = try Fixture(configure: { $0.identity = identity }, handler: Fixture.follow(log))
      let stream = try curl(fixture)
      #expect(eventually { stream.output == "hello\n" })
      for id in 1...1000 { log.append(id: UInt64(id), kind: 0, bytes: Array("event \(id)\n".utf8)) }
      let expected = "hello\n" + (1...1000).map { "event \($0)\n" }.joined()
      #expect(eventually { stream.output.count >= expected.count })
      #expect(stream.output == expected)
      stream.kill()
      #expect(fixture.eventually { $0.streams == 0 && $0.connections == 0 })
    }

    @Test("A stalled handshake times out")
    func silence() throws {
      let identity = try identity("localhost")
      let fixture = try Fixture(configure: {
        $0.identity = identity
        $0.requestHeadTime = .milliseconds(50)
      })
      let client = try fixture.client()
      #expect(try client.receiveAll().isEmpty)
      #expect(fixture.server.counters.expired == 1)
    }

    @Test(
      "Stalled handshakes cause few loop iterations", arguments: [[], [0x16, 3, 1], [0x16, 3, 1, 2, 0, 1, 0]])
    func idleHandshakes(begun: [UInt8]) throws {
      let identity = try identity("localhost")
      let fixture = try Fixture(configure: { $0.identity = identity })
      let clients = try (0..<3).map { _ in try fixture.client() }
      for client in clients { client.send(begun) }
      #expect(fixture.eventually { $0.connections == 3 })
      let turns = fixture.turns(in: .milliseconds(500))
      // 17 turns in 20 ms are expected; a loop that spins takes hundreds.
      let expected = Double(turns.milliseconds) / Double(Limits.handshakePause) * Double(Limits.unpolledPasses + 1)
      #expect(Double(turns.count) < 3 * expected + 100)
      // Others are served meanwhile.
      let child = try curl(fixture)
      #expect(try child.wait() == .exited(0), "\(child.errors)")
    }

    @Test("Strict-Transport-Security is sent over TLS only")
    func strictTransport() throws {
      let identity = try identity("localhost")
      let shared = SharedResponseBody(headers: ["X-Own": "1"], bytes: Array("shared".utf8))
      for handler in [Fixture.echo, { _ in .now(HTTPResponse(shared: shared)) }] as [HTTPHandler] {
        let secure = try Fixture(
          configure: {
            $0.identity = identity
            $0.strictTransport = .seconds(60)
          }, handler: handler)
        let child = try curl(secure, "-i")
        try child.wait()
        #expect(child.output.contains("\r\nStrict-Transport-Security: max-age=60\r\n"))
        let plain = try Fixture(configure: { $0.strictTransport = .seconds(60) }, handler: handler)
        let answer = try plain.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(!answer.contains("Strict-Transport"))
      }
    }

    @Test("An invalid identity is rejected and its part named")
    func brokenIdentities() throws {
      let one = try authority.issue("one")
      let two = try authority.issue("two", key: "rsa:2048")
      let identity = try Self.identity(one.certificate, one.key)
      #expect(Int64(Date().timeIntervalSince1970) + 29 * 86_400 < identity.expires)
      let (certificate, key) = (try Self.bytes(one.certificate), try Self.bytes(one.key))
      let chain = certificate + (try Self.bytes(authority.certificate))
      #expect(unsafe try ServerTLSIdentity(certificate: chain, privateKey: key).certificates.count == 2)
      let cases: [(certificate: [UInt8], key: [UInt8], part: ServerTLSIdentityError.Part)] = [
        ([], key, .certificate), (Array("nonsense".utf8), key, .certificate), (key, key, .certificate),
        (certificate, [], .key), (certificate, certificate, .key), (certificate, try Self.bytes(two.key), .key),
        (Array(certificate.dropLast(200)), key, .certificate), (certificate, Array(key.dropLast(100)), .key),
      ]
      for (index, broken) in cases.enumerated() {
        #expect(throws: ServerTLSIdentityError.self, "\(index)") {
          try ServerTLSIdentity(certificate: broken.certificate, privateKey: broken.key)
        }
        do throws(ServerTLSIdentityError) {
          _ = try ServerTLSIdentity(certificate: broken.certificate, privateKey: broken.key)
        } catch {
          #expect(error.part == broken.part, "\(index): \(error)")
          #expect("\(error)".count > 10)
        }
      }
    }
  }
}
