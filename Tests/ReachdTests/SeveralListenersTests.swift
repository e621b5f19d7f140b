import Foundation
import TestSupport
import Testing

/// Several addresses at once, each with rules of its own; clients that reach all of them.
@Suite struct SeveralListenersTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "reachd-\(UUID().uuidString)").path

  init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }

  /// A running program with this configuration, once it has logged so many addresses.
  private func serve(_ text: String, _ count: Int) throws -> (child: Child, addresses: [String], file: String) {
    let file = directory + "/reachd.yaml"
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    let child = try Program.start(["serve", "--config", file, "--drain-delay", "0s"])
    func addresses() -> [String] {
      child.errors.split(separator: "\n").filter { $0.contains(" notice listening ") }
        .compactMap { $0.firstMatch(of: /address=(\S+)/).map { String($0.output.1) } }
    }
    let isUp = eventually { child.poll() != nil || addresses().count == count }
    try #require(isUp && child.poll() == nil, "\(child.errors)")
    return (child, addresses(), file)
  }

  private func makeToken(_ scope: String) throws -> (file: String, line: String) {
    let made = try Program.run(["token", "create", "--scope", scope])
    let file = directory + "/\(scope).token"
    try made.output.write(toFile: file, atomically: true, encoding: .utf8)
    return (file, made.errors)
  }

  @Test func eachAddressHasItsRulesAndSocket() throws {
    let authority = try TestAuthority()
    let files = try authority.issue("localhost")
    let token = try makeToken("read")
    let service = try serve(
      """
      listen:
        - "127.0.0.1:0"
        - { address: "127.0.0.1:0", certificate: \(files.certificate), key: \(files.key), reads: token }
        - { address: "unix:\(directory)/r.sock", mode: "0600", reads: token }
      tokens:
      \(token.line)
      """, 3)
    let port = service.addresses[1].split(separator: ":").last ?? ""
    let open = "http://\(service.addresses[0])"
    let secure = "https://localhost:\(port)"
    func status(_ url: String, _ extra: [String] = [], _ environment: [String: String] = [:]) throws -> Child.End {
      try Program.run(["healthcheck", "--url", url] + extra, environment: environment).end
    }
    let trust = ["--cacert", authority.certificate]
    #expect(try status(open) == .exited(0))
    #expect(try status(service.addresses[2]) == .exited(0))
    #expect(try status(secure, trust) == .exited(0))
    #expect(try status(secure, [], ["REACHD_CACERT": authority.certificate]) == .exited(0))
    #expect(try status(secure) == .exited(1), "no authority has issued it")
    #expect(try status("https://127.0.0.2:\(port)", trust) == .exited(1))
    // The configuration contains the address, which a container's health check uses.
    let own = ["LISTEN": service.addresses[1], "TLS_CERTIFICATE": files.certificate, "TLS_KEY": files.key]
    let environment = Dictionary(uniqueKeysWithValues: own.map { ("REACHD_" + $0.key, $0.value) })
    #expect(try Program.run(["healthcheck"], environment: environment).end == .exited(0))
    #expect(try Program.run(["status"], environment: environment).end == .exited(2), "a token could go to anybody")
    for (url, extra) in [(secure, trust), (service.addresses[2], [])] {
      let closed = try Program.run(["status", "--url", url] + extra)
      #expect(closed.end == .exited(2))
      #expect(closed.errors.contains("401"))
      #expect(try Program.run(["status", "--url", url, "--token-file", token.file] + extra).end != .exited(2))
      let text = try String(contentsOfFile: token.file, encoding: .utf8).trimmingCharacters(in: .newlines)
      for environment in [["REACHD_TOKEN": text], ["REACHD_TOKEN_FILE": token.file]] {
        #expect(try Program.run(["status", "--url", url] + extra, environment: environment).end != .exited(2))
      }
    }
    #expect(try Program.run(["status", "--url", open]).end != .exited(2))
    service.child.kill(15)
    #expect(try service.child.wait() == .exited(0))
    #expect(!FileManager.default.fileExists(atPath: directory + "/r.sock"))
  }

  @Test func commandsUseTheConfiguredSocket() throws {
    let service = try serve("listen: ['unix:\(directory)/own.sock']", 1)
    #expect(try Program.run(["healthcheck", "--config", service.file]).end == .exited(0))
    service.child.kill(15)
    #expect(try service.child.wait() == .exited(0))
  }
}
