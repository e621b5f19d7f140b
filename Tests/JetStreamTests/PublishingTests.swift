import TestSupport
import Testing

@testable import JetStream

@Suite("Publishing to a stream", .enabled(if: !NATSServer.isSkipped))
struct PublishingTests {
  @Test("The expectation about the last message of a subject decides", arguments: NATSServer.Version.allCases)
  func expectations(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let client = try Client([server.url]).connected()
    let created = try client.makeStream()
    #expect(created.lastSequence == 0 && created.messages == 0 && created.replicas == 1)
    let first = try client.publish("rx.ev.a", "1", .some(.none))
    _ = try client.publish("rx.ev.b", "other")
    let second = try client.publish("rx.ev.a", "2", .sequence(first))
    #expect(first == 1 && second == 3)
    for wrong in [.none, .sequence(first), .sequence(99)] as [JetStreamLastMessageExpectation] {
      let error = #expect(throws: JetStreamError.self) { try client.publish("rx.ev.a", "3", wrong) }
      #expect(error?.kind == .wrongLastSequence, "\(error as Any)")
    }
    let status = try client.connection.stream("RX", within: .seconds(3))
    #expect(status.lastSequence == 3 && status.firstSequence == 1 && status.created == created.created)
  }

  @Test("Direct gets read the last and the next message", arguments: NATSServer.Version.allCases)
  func reading(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let client = try Client([server.url]).connected()
    try client.makeStream()
    let connection = client.connection
    #expect(try connection.lastMessage(of: "rx.ev.a", in: "RX", within: .seconds(3)) == nil)
    for text in ["1", "2", "3"] { _ = try client.publish(text == "2" ? "rx.ev.b" : "rx.ev.a", text) }
    let last = try #require(try connection.lastMessage(of: "rx.ev.a", in: "RX", within: .seconds(3)))
    #expect(last.sequence == 3 && last.payload == Array("3".utf8) && last.subject == "rx.ev.a" && !last.isCopy)
    #expect(last.time > 1_700_000_000_000_000_000)
    let next = try connection.nextMessage(of: "rx.ev.*", in: "RX", from: 2, within: .seconds(3))
    #expect(next?.sequence == 2 && next?.subject == "rx.ev.b")
    #expect(try connection.nextMessage(of: "rx.ev.b", in: "RX", from: 3, within: .seconds(3)) == nil)
  }

  @Test("Missing streams and other settings are distinguished", arguments: NATSServer.Version.allCases)
  func streamErrors(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let client = try Client([server.url]).connected()
    let connection = client.connection
    func kind(_ body: () throws -> Void) -> JetStreamError.Kind? {
      #expect(throws: JetStreamError.self) { try body() }?.kind
    }
    #expect(kind { _ = try connection.stream("RX", within: .seconds(3)) } == .notFound)
    let missing = kind { _ = try connection.lastMessage(of: "rx.ev.a", in: "RX", within: .milliseconds(500)) }
    // 2.9 receives the request for any stream, and does not answer it.
    #expect(missing == .noResponders || version == .debian && missing == .timedOut)
    #expect(kind { _ = try client.publish("rx.ev.a", "1") } == .noResponders)
    let first = try client.makeStream()
    #expect(try client.makeStream() == first, "the same settings")
    let other = JetStreamConfiguration(
      name: "RX", subjects: ["rx.ev.*"], replicas: 1, maximumAge: .seconds(60), maximumBytes: 1_000)
    #expect(kind { _ = try connection.createStream(other, within: .seconds(3)) } == .otherConfiguration)
    try connection.deleteStream("RX", within: .seconds(3))
    #expect(try client.makeStream().created != first.created)
  }

  @Test("Payloads beyond the limit are refused before they are sent")
  func size() throws {
    let server = try NATSServer(.debian)
    let client = try Client([server.url]).connected()
    try client.makeStream()
    let largest = [UInt8](repeating: 1, count: NATSConnection.payloadLimit)
    _ = try client.connection.publish("rx.ev.a", largest, expecting: nil, within: .seconds(3))
    let error = #expect(throws: JetStreamError.self) {
      try client.connection.publish("rx.ev.a", largest + [1], expecting: nil, within: .seconds(3))
    }
    #expect(error?.kind == .tooLarge)
  }

  @Test("Nothing is kept while there is no connection", arguments: NATSServer.Version.allCases)
  func disconnected(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let client = try Client([server.url]).connected()
    try client.makeStream()
    #expect(try client.publish("rx.ev.a", "1") == 1)
    server.kill()
    #expect(eventually { client.events.all.contains(.disconnected) })
    let error = #expect(throws: JetStreamError.self) { try client.publish("rx.ev.a", "2") }
    #expect(error?.kind == .disconnected, "\(error as Any)")
    let unstored = #expect(throws: JetStreamError.self) { try client.connection.publish("rx.hb.a", [1, 2]) }
    #expect(unstored?.kind == .disconnected, "\(unstored as Any)")
    try server.start()
    #expect(eventually { client.connection.isConnected })
    #expect(try client.connection.stream("RX", within: .seconds(5)).lastSequence == 1)
    #expect(try client.publish("rx.ev.a", "3", .sequence(1)) == 2)
  }
}
