import Foundation
import Glibc
import Locks
import Probers
import TestSupport
import Testing

/// What a module of the file sends must not reach a server that a caller of the HTTP API chooses.
@Suite struct ModuleSecretTests {
  private static let secret = "hunter2"
  private static let policy = "policy: { allow: [127.0.0.0/8] }\n"
  private static let carriers = """
    modules:
      fields: { prober: http, headers: { Authorization: "Bearer hunter2" } }
      body: { prober: http, method: POST, body: hunter2 }
      greet: { prober: tcp, send: "AUTH hunter2\\r\\n\\r\\n" }
      sni: { prober: tls, serverName: hunter2.internal }
      zone: { prober: dns, tcp: true, queryName: hunter2.internal }

    """
  private static let schemes = ["fields": "http", "body": "http", "greet": "tcp", "sni": "tls", "zone": "dns"]

  private func ask(_ url: String, _ options: String = "") throws -> (status: Int, body: String) {
    let (end, output, errors) = try Program.shell("curl -s -m 20 -w '\\n%{http_code}' \(options) '\(url)'")
    guard end == .exited(0) else { throw TestError("curl: \(end) \(errors)") }
    let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
    return (Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"))
  }

  private func post(_ url: String, _ body: String, method: String = "POST") throws -> (status: Int, body: String) {
    try ask(url, "-X \(method) -H 'Content-Type: application/json' -d '\(body)'")
  }

  @Test(arguments: ["fields", "body", "greet", "sni", "zone"])
  func noRouteSendsAModuleWithoutHostsToACallersServer(module: String) throws {
    let attacker = try RecordingServer()
    let file = try TemporaryFile(Self.policy + Self.carriers)
    let service = try RunningService(["--drain-delay", "0s", "--config", file.path])
    let path = module == "zone" ? "/a.example" : ""
    for host in ["127.0.0.1", "localhost"] {
      let authority = "\(host):\(attacker.port)"
      let target = "\(Self.schemes[module] ?? "")://\(authority)\(path)"
      let check = "{\"target\": \"\(target)\", \"module\": \"\(module)\"}"
      let definition = "{\"id\": \"x\", \"target\": \"\(target)\", \"module\": \"\(module)\"}"
      let answers = [
        try ask("\(service.url)/check?target=\(target)&module=\(module)"),
        try ask("\(service.url)/explain?target=\(target)&module=\(module)"),
        try ask("\(service.url)/probe?target=\(authority)&module=\(module)"),
        try post("\(service.url)/checks", "[\(check), \"tcp://127.0.0.1:1\"]"),
        try ask(
          "\(service.url)/checks",
          "-X POST -H 'Content-Type: application/json' -H 'Accept: application/x-ndjson' -d '[\(check)]'"),
        try post("\(service.url)/targets/x", definition, method: "PUT"),
        try post("\(service.url)/targets", definition),
      ]
      for answer in answers {
        #expect(answer.status == 403, "\(answer.body)")
        #expect((try? JSONValue(answer.body))?["code"] == .string("moduleDenied"), "\(answer.body)")
      }
      let many = try JSONValue(try post("\(service.url)/targets", "[\(definition)]").body)
      #expect(many["results"]?[0]?["status"]?.integer == 403)
      #expect(many["results"]?[0]?["code"]?.text == "moduleDenied")
      #expect(try ask("\(service.url)/targets/x").status == 404)
    }
    #expect(try attacker.received() == "")
  }

  @Test func aTargetOfTheFileMayUseAnyModule() throws {
    let own = try RecordingServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let target = "targets: [{ id: own, target: 'http://127.0.0.1:\(own.port)/', module: fields }]\n"
    let file = try TemporaryFile(target + Self.carriers)
    let service = try RunningService(["--drain-delay", "0s", "--config", file.path])
    #expect(try eventually { try ask("\(service.url)/targets/own").body.contains("\"state\":\"up\"") })
    #expect(try own.received().contains("Authorization: Bearer \(Self.secret)\r\n"))
  }

  private func module(_ rest: String) -> String {
    "modules: { api: { prober: http, headers: { Authorization: \(Self.secret) }, body: \(Self.secret), \(rest) } }\n"
  }

  @Test func hostsBoundWhereAModuleMayBeUsed() throws {
    let own = try RecordingServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let attacker = try RecordingServer()
    let hosts = "hosts: ['http://localhost:\(own.port)', 'http://127.0.0.0/30:\(own.port)']"
    let file = try TemporaryFile(Self.policy + module(hosts))
    let service = try RunningService(["--drain-delay", "0s", "--config", file.path])
    func check(_ target: String, _ more: String = "") throws -> String? {
      let body = try JSONValue(try ask("\(service.url)/check?target=\(target)&module=api\(more)").body)
      return body["code"]?.text ?? body["state"]?.text
    }
    for host in ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "[::ffff:127.0.0.1]"] {
      #expect(try check("http://\(host):\(own.port)/") == "up", "\(host)")
    }
    #expect(try own.received().contains(Self.secret))
    for target in [
      "http://localhost:\(attacker.port)/", "http://127.0.0.1:\(attacker.port)/", "https://localhost:\(own.port)/",
      "http://127.0.0.9:\(own.port)/", "http://[::1]:\(own.port)/",
    ] {
      #expect(try check(target) == "moduleDenied", "\(target)")
    }
    // Only by the kernel's route: on another link the same address is another host.
    #expect(try check("http://127.0.0.1:\(own.port)/", "&interface=lo") == "moduleDenied")
    #expect(try check("http://127.0.0.1:\(own.port)/", "&source=127.0.0.1") == "moduleDenied")
    #expect(try attacker.received() == "")
  }

  @Test(arguments: ["302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
  func aRedirectToAnotherHostEndsTheCheck(status: String) throws {
    let attacker = try RecordingServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    for location in [
      "http://127.0.0.1:\(attacker.port)/", "http://localhost:\(attacker.port)/", "//127.0.0.1:\(attacker.port)/",
      "http://127.0.0.1:OWN@127.0.0.1:\(attacker.port)/", "http:\\\\\\\\127.0.0.1:\(attacker.port)/",
      "https://127.0.0.1:\(attacker.port)/", "http://%31%32%37.0.0.1:\(attacker.port)/",
    ] {
      let own = try RecordingServer(
        answer: "HTTP/1.1 \(status)\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
      let file = try TemporaryFile(
        Self.policy + module("maximumRedirects: 5, hosts: ['http://127.0.0.1:\(own.port)']"))
      let service = try RunningService(["--drain-delay", "0s", "--config", file.path])
      let target = "http://127.0.0.1:\(own.port)/"
      let body = try JSONValue(try ask("\(service.url)/check?target=\(target)&module=api").body)
      #expect(body["state"]?.text == "down" && body["reason"]?.text == "httpStatus", "\(location): \(body)")
      let probe = try ask("\(service.url)/probe?target=\(target)&module=api")
      #expect(probe.status == 200 && probe.body.contains("\nprobe_success 0\n"), "\(probe.body)")
      #expect(try own.received().contains(Self.secret))
    }
    #expect(try attacker.received() == "")
  }

  @Test func aRedirectWithinTheHostsIsFollowed() throws {
    let last = try RecordingServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let first = try RecordingServer(
      answer: "HTTP/1.1 302 Found\r\nLocation: http://localhost:\(last.port)/\r\nContent-Length: 0\r\n\r\n")
    let hosts = "hosts: ['http://127.0.0.1:\(first.port)', 'http://127.0.0.0/8:\(last.port)']"
    let file = try TemporaryFile(Self.policy + module("maximumRedirects: 5, \(hosts)"))
    let service = try RunningService(["--drain-delay", "0s", "--config", file.path])
    let answer = try ask("\(service.url)/check?target=http://127.0.0.1:\(first.port)/&module=api")
    #expect(try JSONValue(answer.body)["state"]?.text == "up", "\(answer.body)")
    // Another origin: the fields stay with the first server.
    #expect(try last.received().hasPrefix("GET / HTTP/1.1\r\n") && !last.received().contains(Self.secret))
  }

  @Test(arguments: ["", "hosts: ['http://127.0.0.1:1']", "hosts: []", "REMOVED"])
  func aReloadThatClosesAModuleHoldsForStoredTargets(rest: String) throws {
    let own = try RecordingServer(answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let reloadable = try ReloadableService(Self.policy + module("hosts: any"))
    let url = reloadable.service.url
    let definition = "{\"target\": \"http://127.0.0.1:\(own.port)/\", \"module\": \"api\", \"fall\": 1}"
    #expect(try post("\(url)/targets/x", definition, method: "PUT").status == 201)
    #expect(try eventually { try ask("\(url)/targets/x").body.contains("\"state\":\"up\"") })
    let before = try own.received()
    #expect(before.contains(Self.secret))
    try reloadable.reload(Self.policy + (rest == "REMOVED" ? "" : module(rest)))
    let checked = try JSONValue(try ask("\(url)/targets/x/check", "-X POST").body)
    #expect(checked["lastCheck"]?["reason"]?.text == "policyDenied", "\(checked)")
    #expect(checked["state"]?.text == "unknown" && checked["reason"]?.text == "policyDenied", "\(checked)")
    #expect(try post("\(url)/targets/x", definition, method: "PUT").status == 403)
    #expect(try own.received() == before)
  }

  @Test func aModuleForAnyHostLeavesAWarning() throws {
    let text = "modules.api.hosts is any"
    let file = try TemporaryFile(module("hosts: any"))
    let check = try Program.run(["config", "check", "--config", file.path])
    #expect(check.end == .exited(0) && check.errors.contains(text), "\(check.errors)")
    let reloadable = try ReloadableService(module("hosts: ['http://127.0.0.1:1']"))
    #expect(!reloadable.service.child.errors.contains(text))
    try reloadable.reload(module("hosts: any"))
    #expect(eventually { reloadable.service.child.errors.contains(text) })
    let service = try RunningService(["--drain-delay", "0s", "--config", file.path])
    #expect(eventually { service.child.errors.contains(text) })
  }
}

/// A server on 127.0.0.1 that keeps every byte it receives, one connection after the other.
private final class RecordingServer: Sendable {
  let port: UInt16
  private let listener: Int32
  private let bytes = Locked("")
  private let last = Locked("")

  init(answer: String = "") throws {
    (listener, port) = try Loopback.bound(.stream)
    guard listen(listener, 64) == 0 else { throw TestError("listen") }
    Loopback.thread { [weak self, listener] in
      defer { close(listener) }
      while true {
        let peer = accept(listener, nil, nil)
        guard peer >= 0 else { return }
        var text = ""
        while !Self.isComplete(text) {
          let bytes = Loopback.receive(4_096, from: peer)
          if bytes.isEmpty { break }
          text += String(decoding: bytes, as: UTF8.self)
        }
        if text.hasPrefix("marker ") {
          self?.last.withLock { $0 = text }
        } else {
          self?.bytes.withLock { $0 += text }
          Loopback.send(Array(answer.utf8), to: peer)
        }
        close(peer)
      }
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  private static func isComplete(_ text: String) -> Bool {
    guard let end = text.firstRange(of: "\r\n\r\n") else { return false }
    let length = text.firstRange(of: "Content-Length: ").flatMap { Int(text[$0.upperBound...].prefix { $0.isNumber }) }
    return text[end.upperBound...].utf8.count >= length ?? 0
  }

  /// Everything received on the connections that were made before this call.
  func received() throws -> String {
    let marker = "marker \(UUID().uuidString)\r\n\r\n"
    let descriptor = try Loopback.connecting(to: port)
    defer { close(descriptor) }
    let isSeen = eventually {
      // Not before it is connected.
      if last.withLock(\.self) != marker { Loopback.send(Array(marker.utf8), to: descriptor) }
      return last.withLock { $0.hasPrefix(marker) }
    }
    guard isSeen else { throw TestError("the server does not read") }
    return bytes.withLock(\.self)
  }
}
