import Credentials
import Foundation
import EmbeddedHTTPServer
@testable import HTTPRouting
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import StatusAPI

/// The examples are not only valid: they are what the service answers to a machine in that state.
@Suite struct OpenAPIExampleTests {
  let contract: OpenAPIDocument
  init() throws { contract = try OpenAPIDocument() }

  private func example(_ name: String) -> Value? { contract.resolve("#/components/examples/\(name)")["value"] }

  /// The body, with the epoch of the examples and their time of evaluation.
  private func answer(_ machine: ScriptedMachine, _ target: String, _ headers: HTTPHeaders = [:]) throws -> Value {
    let id = try #require(try Value(json: machine.ask("/status").text)["id"]?.text)
    let text = try machine.ask(target, headers).text.replacing(id.prefix(8), with: "6f1c2a90")
    return try Value(json: text).replacing("evaluatedAt") { _ in .string("2026-01-01T00:00:00.000000Z") }
      .replacing("instance") { _ in .string("urn:reachd:request:c4a1d2e3f4a5b6c7") }
  }

  @Test func statusExamplesMatchTheCode() throws {
    #expect(try answer(ScriptedMachine(started: false), "/status") == example("Starting"))
    #expect(try answer(ScriptedMachine(), "/status") == example("Reachable"))
    #expect(try answer(ScriptedMachine.pulled(), "/status") == example("NotReachable"))
  }

  @Test func textExamplesMatchTheCode() throws {
    let text = contract.operations.first { $0.path == "/status" }?.responses["200"]?["content"]?["text/plain"]
    let lines = try [ScriptedMachine(started: false), ScriptedMachine(), ScriptedMachine.pulled()].map {
      try $0.ask("/status", ["Accept": "text/plain"]).text
    }
    #expect(Set(text.map(contract.examples)?.compactMap(\.text) ?? []) == Set(lines))
  }

  @Test func hostAndInterfaceExamplesMatchTheCode() throws {
    let machine = try ScriptedMachine()
    #expect(try answer(machine, "/interfaces") == example("Interfaces"))
    #expect(try answer(machine, "/hosts/10.0.0.9") == example("HostAddress"))
    #expect(try answer(machine, "/hosts/db.internal?resolve=none") == example("HostOptimistic"))
    let line = try machine.ask("/hosts/10.0.0.9", ["Accept": "text/plain"]).text
    let content = contract.operations.first { $0.path == "/hosts/{host}" }?.responses["200"]?["content"]
    #expect(content?["text/plain"]?["example"]?.text == line)
  }

  /// Whose hosts file gives `localhost` more than one address is not the examples' business.
  @Test func hostsFileExampleMatchesTheCode() throws {
    let answer = try self.answer(ScriptedMachine(), "/hosts/localhost")
    let example = try #require(self.example("HostName"))
    let wanted = example["addresses"]?.elements.first
    #expect(answer["addresses"]?.elements.contains { $0 == wanted } == true)
    for name in example.members.keys where name != "addresses" { #expect(answer[name] == example[name]) }
  }

  @Test func eventExamplesMatchTheCode() throws {
    let machine = try ScriptedMachine.pulled()
    let id = try #require(try Value(json: machine.ask("/status").text)["id"]?.text)
    let json: HTTPHeaders = ["Accept": "application/json"]
    #expect(try answer(machine, "/events?lastEventId=\(id.prefix(8))-1", json) == example("RecentEvents"))
    #expect(try answer(ScriptedMachine(started: false), "/events?lastEventId=00000000-7", json) == example("GapFirst"))
  }

  @Test func streamExampleMatchesTheCode() throws {
    let machine = try ScriptedMachine()
    let stream = try machine.ask("/events?types=interface")
    machine.pull()
    let id = try #require(try Value(json: machine.ask("/status").text)["id"]?.text)
    let content = contract.operations.first { $0.path == "/events" }?.responses["200"]?["content"]
    let example = content?["text/event-stream"]?["example"]?.text
    #expect(stream.text.replacing(id.prefix(8), with: "6f1c2a90") == example)
  }

  @Test func healthExamplesMatchTheCode() throws {
    let machine = try ScriptedMachine()
    let json: HTTPHeaders = ["Accept": "application/health+json"]
    #expect(try answer(machine, "/readyz", json) == example("HealthPass"))
    #expect(try machine.ask("/readyz?verbose").text == "[+] kernel ok\n[+] draining ok\n")
    machine.service.beginDrain()
    #expect(try answer(machine, "/readyz", json) == example("HealthFail"))
  }

  @Test func problemExamplesMatchTheCode() throws {
    let machine = try ScriptedMachine()
    func documented(_ name: String) -> Value? {
      contract.resolve("#/components/responses/\(name)")["content"]?["application/problem+json"]?["example"]
    }
    #expect(try answer(machine, "/hosts/db.internal:5432") == example("BadHost"))
    #expect(try answer(machine, "/status?requires=reachable") == example("UnknownParameter"))
    #expect(try answer(machine, "/status", ["Host": "evil.example"]) == example("HostNotAllowed"))
    #expect(try answer(machine, "/status", ["Accept": "image/png"]) == documented("NotAcceptable"))
    #expect(try answer(machine, "/readyz/disk") == documented("NotFound"))
    var limited = try answer(machine, "/hosts/localhost")
    for _ in 0..<200 where limited["code"] == nil { limited = try answer(machine, "/hosts/localhost") }
    #expect(limited == documented("RateLimited"))
    machine.monitor.stop()
    machine.kernel.refuseStart(KernelError(operation: "socket", errno: 1, message: "no"))
    #expect(try answer(machine, "/hosts/10.0.0.9")["status"]?.text == "unknown")
  }

  @Test func refusalExamplesMatchTheCode() throws {
    let machine = try ScriptedMachine()
    let token = try #require(BearerToken.make(id: "grafana"))
    let digest = try #require(token.digest)
    let readers = AccessToken(id: "reader", digest: digest, scopes: [.read])
    machine.service.replaceAccess(
      AccessPolicy(
        listeners: [.init(reads: .token)],
        tokens: [readers, AccessToken(id: "grafana", digest: digest, scopes: [.check])]))
    let unauthorized = contract.resolve("#/components/responses/Unauthorized")
    // Under the id that the examples have.
    func refusal(_ headers: HTTPHeaders) throws -> Value {
      var headers = headers
      headers["X-Request-Id"] = "c4a1d2e3f4a5b6c7"
      return try Value(json: machine.ask("/status", headers).text)
    }
    #expect(try refusal([:]) == unauthorized["content"]?["application/problem+json"]?["example"])
    let challenge = contract.resolve("#/components/headers/Challenge")["example"]?.text
    #expect(try machine.ask("/status").headers["WWW-Authenticate"] == challenge)
    #expect(try refusal(["Authorization": "Bearer \(token.text)"]) == example("Forbidden"))
  }

  /// Every frame of a stream that sees everything, by the schema of its event.
  @Test func streamEventsMatchTheirSchemas() throws {
    let machine = try ScriptedMachine()
    let stream = try machine.ask("/events", ["Last-Event-ID": "gone"])
    machine.kernel.change([.routeAdded]) { $0.addDefault(via: "10.0.0.2", on: 2, metric: 50) }
    machine.kernel.change { $0.addInterface(3, "wwan0", .wwan, addresses: ["100.64.0.2/30"]) }
    machine.kernel.change { script in
      script.interfaces.removeAll { $0.name == "eth0" }
      script.routes.removeAll { $0.hops.contains { $0.interfaceIndex == 2 } }
      script.addDefault(via: "100.64.0.1", on: 3)
    }
    for body in [#"{"target": "tcp://10.0.0.9:1", "paused": true}"#, ""] {
      _ = try machine.ask("/targets/db", method: body.isEmpty ? "DELETE" : "PUT", body: body)
    }
    machine.kernel.change { $0.removeDefaults(.ipv4) }
    machine.kernel.advance(by: .seconds(1))
    machine.kernel.fail(KernelError(operation: "recvmsg", errno: 5, message: "I/O error"))
    let closeEvent = String(decoding: StatusService.closeEvent, as: UTF8.self)
    var seen: Set<String> = []
    for frame in (stream.text + closeEvent).components(separatedBy: "\n\n") {
      let lines = frame.split(separator: "\n")
      guard let event = lines.first(where: { $0.hasPrefix("event: ") })?.dropFirst(7) else { continue }
      let data = try #require(lines.first { $0.hasPrefix("data: ") }?.dropFirst(6))
      let schema = event == "snapshot" ? "Status" : event.prefix(1).uppercased() + event.dropFirst() + "Event"
      #expect(contract.schema(schema).violations(try Value(json: String(data))) == [], "\(frame)")
      #expect(lines.contains { $0.hasPrefix("id: ") } == !["gap", "bye"].contains(event))
      seen.insert(String(event))
    }
    #expect(seen == ["gap", "snapshot", "path", "interface", "status", "target", "bye"])
  }
}
