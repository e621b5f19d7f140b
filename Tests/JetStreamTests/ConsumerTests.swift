import TestSupport
import Testing

@testable import JetStream
@testable import NATSClient

@Suite("Consumers of a stream", .enabled(if: !NATSServer.isSkipped))
struct ConsumerTests {
  @Test("An ordered consumer delivers everything once over kills of the server", arguments: NATSServer.Version.allCases)
  func orderedOverKills(_ version: NATSServer.Version) throws {
    // Every message must survive the kill, so that each number is expected exactly once.
    let server = try NATSServer(version)
    let client = try Client([server.url]).connected()
    try client.makeStream()
    let received = Collector<JetStreamDelivery>()
    let consumer = JetStreamOrderedConsumer(client.connection, stream: "RX", from: 1) { received.add($0) }
    defer { consumer.cancel() }
    for number in 1...300 { _ = try client.publish("rx.ev.a", "\(number)") }
    #expect(eventually { received.messages.count == 300 })
    server.kill()
    try server.start()
    #expect(eventually { client.connection.isConnected })
    consumer.restart()
    for number in 301...400 { _ = try client.publish("rx.ev.a", "\(number)") }
    #expect(eventually { received.messages.count >= 400 })
    #expect(received.texts == (1...400).map { "\($0)" })
    #expect(received.messages.map(\.sequence) == (1...400).map { UInt64($0) })
    guard case .message(_, let pending) = received.all.last else {
      return #expect(Bool(false), "an interruption at the end")
    }
    #expect(pending == 0)
  }

  /// nats-server 2.9 begins with the next message, even if that is before the first one that was asked for.
  @Test("A consumer that begins beyond the end waits for the first message", arguments: NATSServer.Version.allCases)
  func beyondTheEnd(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let client = try Client([server.url]).connected()
    try client.makeStream()
    let received = Collector<JetStreamDelivery>()
    let consumer = JetStreamOrderedConsumer(client.connection, stream: "RX", from: 3) { received.add($0) }
    defer { consumer.cancel() }
    let names = "$JS.API.CONSUMER.NAMES.RX"
    #expect(
      eventually {
        let listed = try? client.connection.request(names, within: .seconds(3))
        return listed.map { String(decoding: $0.payload, as: UTF8.self).contains("\"consumers\":[\"") } ?? false
      })
    for number in 1...4 { _ = try client.publish("rx.ev.a", "\(number)") }
    #expect(eventually { received.texts.last == "4" })
    #expect(received.texts == ["3", "4"])
  }

  @Test("A lost consumer of the server is noticed and replaced", arguments: NATSServer.Version.allCases)
  func replaced(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let client = try Client([server.url]).connected()
    try client.makeStream()
    for number in 1...3 { _ = try client.publish("rx.ev.a", "\(number)") }
    let received = Collector<JetStreamDelivery>()
    let consumer = JetStreamOrderedConsumer(client.connection, stream: "RX", from: 2) { received.add($0) }
    defer { consumer.cancel() }
    #expect(eventually { received.texts == ["2", "3"] })
    let listed = try client.connection.request("$JS.API.CONSUMER.NAMES.RX", within: .seconds(3))
    let text = String(decoding: listed.payload, as: UTF8.self)
    let name = try #require(text.split(separator: "\"consumers\":[\"").last?.split(separator: "\"").first)
    _ = try client.connection.request("$JS.API.CONSUMER.DELETE.RX.\(name)", within: .seconds(3))
    _ = try client.publish("rx.ev.a", "4")
    #expect(eventually { received.texts == ["2", "3", "4"] })
    #expect(received.all.contains { if case .interrupted = $0 { true } else { false } })
  }
}
