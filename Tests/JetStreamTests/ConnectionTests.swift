import Locks
import TestSupport
import Testing

@testable import JetStream
@testable import NATSClient

@Suite("Connections", .enabled(if: !NATSServer.isSkipped))
struct ConnectionTests {
  @Test("A server that starts later is found")
  func laterStart() throws {
    let port = try NATSServer.freePort()
    let client = try Client(["nats://127.0.0.1:\(port)"])
    #expect(!client.connection.isConnected && client.connection.server == nil)
    let server = try NATSServer(.debian, port: port)
    #expect(eventually { client.events.all == [.connected] })
    #expect(client.connection.server?.contains("\(server.port)") == true)
    client.connection.close()
    #expect(eventually { client.connection.isClosed })
  }

  @Test("Requests get the first reply, or an error", arguments: NATSServer.Version.allCases)
  func requests(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let asking = try Client([server.url], name: "asking").connected()
    let answering = try Client([server.url], name: "answering").connected()
    let none = #expect(throws: NATSError.self) {
      try asking.connection.request("rx.ask.a", within: .seconds(3))
    }
    #expect(none?.kind == .noResponders)
    let subjects = Collector<String>()
    let connection = answering.connection
    let subscription = try connection.subscribe("rx.ask.*") { message in
      subjects.add(message.subject)
      if let reply = message.reply, message.payload != [9] { try? connection.publish(reply, message.payload + [2]) }
    }
    try connection.flush(within: .seconds(3))
    let reply = try asking.connection.request("rx.ask.a", [1], within: .seconds(3))
    #expect(reply.payload == [1, 2] && reply.subject.hasPrefix("_INBOX_asking."))
    let silent = #expect(throws: NATSError.self) {
      try asking.connection.request("rx.ask.b", [9], within: .milliseconds(100))
    }
    #expect(silent?.kind == .timedOut && subjects.all == ["rx.ask.a", "rx.ask.b"])
    subscription.cancel()
    try connection.flush(within: .seconds(3))
    let after = #expect(throws: NATSError.self) { try asking.connection.request("rx.ask.a", within: .seconds(3)) }
    #expect(after?.kind == .noResponders)
  }

  @Test(
    "A reply to a question arrives on a subject of its own, and a second one nowhere",
    arguments: NATSServer.Version.allCases)
  func questions(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let asking = try Client([server.url], name: "asking").connected()
    let answering = try Client([server.url], name: "answering").connected()
    let none = #expect(throws: NATSError.self) {
      try asking.connection.ask("rx.ask.a", [], replyPrefix: "_ANSWER", within: .seconds(3))
    }
    #expect(none?.kind == .noResponders)
    let replies = Collector<String>()
    let connection = answering.connection
    let subscription = try connection.subscribe("rx.ask.*") { message in
      guard let reply = message.reply else { return }
      replies.add(reply)
      for number in 1...2 { try? connection.publish(reply, message.payload + [UInt8(number)]) }
    }
    defer { subscription.cancel() }
    try connection.flush(within: .seconds(3))
    for number in 1...3 {
      let reply = try asking.connection.ask("rx.ask.a", [UInt8(number)], replyPrefix: "_ANSWER", within: .seconds(3))
      #expect(reply.payload == [UInt8(number), 1])
    }
    let subjects = replies.all
    #expect(Set(subjects).count == 3)
    #expect(
      subjects.allSatisfy { $0.hasPrefix("_ANSWER.") && $0.utf8.count > 25 && $0.split(separator: ".").count == 2 })
  }

  @Test("Of a group, one member receives each message", arguments: NATSServer.Version.allCases)
  func groups(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let clients = try (0..<3).map { try Client([server.url], name: "c\($0)").connected() }
    let received = Collector<[UInt8]>()
    let subscriptions = try clients.map { client in
      try client.connection.subscribe("rx.in.*", queue: "g") { received.add($0.payload) }
    }
    defer { subscriptions.forEach { $0.cancel() } }
    for client in clients { try client.connection.flush(within: .seconds(3)) }
    for number in 0..<50 { try clients[0].connection.publish("rx.in.a", [UInt8(number)]) }
    #expect(eventually { received.count == 50 })
    #expect(Set(received.all.map { $0[0] }).count == 50)
  }

  @Test("The version of a server is read from its first line, also with TLS", arguments: NATSServer.Version.allCases)
  func version(_ version: NATSServer.Version) throws {
    let authority = try TestAuthority()
    let (certificate, key) = try authority.issue("server")
    let tls = try NATSServer(version, "tls { cert_file: \"\(certificate)\", key_file: \"\(key)\" }")
    for server in [try NATSServer(version), tls] {
      let found = try #require(NATSServerVersion(of: server.url))
      #expect("\(found)".hasPrefix(version.rawValue + "."))
    }
    #expect(NATSServerVersion(of: "nats://127.0.0.1:1") == nil)
  }

  @Test("A handler that is too slow is the condition of this client, and no refusal of the server")
  func overload() throws {
    let server = try NATSServer(.debian)
    let slow = try Client([server.url], name: "slow").connected()
    let fast = try Client([server.url], name: "fast").connected()
    let isReleased = Latch()
    let subscription = try slow.connection.subscribe("rx.hb.*") { _ in _ = isReleased.wait(atMost: .seconds(30)) }
    try slow.connection.flush(within: .seconds(3))
    for _ in 0..<Int(NATSClient.Limits.pendingMessages) + 1000 { try fast.connection.publish("rx.hb.a", [1]) }
    #expect(eventually { slow.events.all.contains(.overloaded) }, "\(slow.events.all)")
    #expect(subscription.dropped > 0)
    isReleased.open()
    #expect(slow.events.all.allSatisfy { $0 == .connected || $0 == .overloaded }, "\(slow.events.all)")
  }

  @Test("Wrong passwords end the connection")
  func passwords() throws {
    let server = try NATSServer(.debian, "authorization { users: [{user: a, password: right}] }")
    let right = try Client(["nats://a:right@127.0.0.1:\(server.port)"]).connected()
    #expect(right.connection.server?.contains("right") == false)
    let wrong = try Client(["nats://a:wrong@127.0.0.1:\(server.port)"])
    #expect(eventually { wrong.connection.isClosed })
    #expect(eventually { wrong.events.all.contains { if case .closed = $0 { true } else { false } } })
  }

  @Test("TLS verifies the authority and the name of the server", arguments: NATSServer.Version.allCases)
  func security(_ version: NATSServer.Version) throws {
    let authority = try TestAuthority()
    let (certificate, key) = try authority.issue("server")
    let server = try NATSServer(version, "tls { cert_file: \"\(certificate)\", key_file: \"\(key)\" }")
    func client(_ host: String, _ file: String) throws -> Client {
      try Client(["tls://\(host):\(server.port)"], authorityFile: file)
    }
    let good = try client("localhost", authority.certificate).connected()
    try good.makeStream()
    #expect(try good.publish("rx.ev.a", "1") == 1)
    // The certificate is for localhost and 127.0.0.1.
    let otherName = try client("127.0.0.2", authority.certificate)
    let other = try TestAuthority()
    let otherAuthority = try client("localhost", other.certificate)
    #expect(
      !eventually(within: .seconds(2)) { otherName.connection.isConnected || otherAuthority.connection.isConnected })
    withExtendedLifetime(other) {}
  }

  @Test("Contexts of callbacks are released with their connection")
  func release() throws {
    let server = try NATSServer(.debian)
    weak var released: Collector<NATSConnection.Event>?
    do {
      let client = try Client([server.url]).connected()
      released = client.events
      _ = try client.connection.subscribe("a.*") { _ in }
    }
    #expect(eventually { released == nil })
  }
}
