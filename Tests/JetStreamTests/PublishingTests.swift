import Glibc
import TestSupport
import Testing

@testable import JetStream
@testable import NATSClient

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
      let error = #expect(throws: NATSError.self) { try client.publish("rx.ev.a", "3", wrong) }
      #expect(error?.kind == .wrongLastSequence, "\(error as Any)")
    }
    let status = try client.connection.stream("RX", within: .seconds(3))
    #expect(status.lastSequence == 3 && status.firstSequence == 1 && status.created == created.created)
  }

  @Test("Direct gets read the last message", arguments: NATSServer.Version.allCases)
  func reading(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let client = try Client([server.url]).connected()
    try client.makeStream()
    let connection = client.connection
    #expect(try connection.lastMessage(of: "rx.ev.a", in: "RX", within: .seconds(3)) == nil)
    for text in ["1", "2", "3"] { _ = try client.publish(text == "2" ? "rx.ev.b" : "rx.ev.a", text) }
    let last = try #require(try connection.lastMessage(of: "rx.ev.a", in: "RX", within: .seconds(3)))
    #expect(last.sequence == 3 && last.payload == Array("3".utf8) && last.subject == "rx.ev.a")
    #expect(last.time > 1_700_000_000_000_000_000)
  }

  @Test("Missing streams and other settings are distinguished", arguments: NATSServer.Version.allCases)
  func streamErrors(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let client = try Client([server.url]).connected()
    let connection = client.connection
    func kind(_ body: () throws -> Void) -> NATSError.Kind? {
      #expect(throws: NATSError.self) { try body() }?.kind
    }
    #expect(kind { _ = try connection.stream("RX", within: .seconds(3)) } == .notFound)
    let missing = kind { _ = try connection.lastMessage(of: "rx.ev.a", in: "RX", within: .milliseconds(500)) }
    // 2.10 receives the request for any stream, and may not answer it.
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
    let largest = [UInt8](repeating: 1, count: 131_072)
    _ = try client.connection.publish("rx.ev.a", largest, expecting: nil, within: .seconds(3))
    let error = #expect(throws: NATSError.self) {
      try client.connection.publish("rx.ev.a", largest + [1], expecting: nil, within: .seconds(3))
    }
    #expect(error?.kind == .tooLarge)
  }

  @Test("Publications do not wait for each other's acknowledgements", arguments: NATSServer.Version.allCases)
  func publisher(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let client = try Client([server.url]).connected()
    try client.makeStream()
    let publisher = try JetStreamPublisher(client.connection)
    let results = Collector<Result<UInt64, NATSError>>()
    func publish(_ subject: String, _ expected: JetStreamLastMessageExpectation? = nil) {
      publisher.publish(subject, [1], expecting: expected, within: .seconds(5)) { results.add($0) }
    }
    for _ in 0..<100 { publish("rx.ev.a") }
    #expect(eventually { results.count == 100 })
    #expect(results.all.compactMap { try? $0.get() }.sorted() == (1...100).map { UInt64($0) })
    publish("rx.ev.a", .sequence(7))
    publish("other.a")
    #expect(eventually { results.count == 102 })
    let kinds = results.all.suffix(2).compactMap { result -> NATSError.Kind? in
      if case .failure(let error) = result { error.kind } else { nil }
    }
    #expect(Set(kinds) == [.wrongLastSequence, .noResponders])
    server.signal(SIGSTOP)
    // The signal takes effect later than it is sent.
    let isTimedOut = eventually {
      publisher.publish("rx.ev.a", [1], expecting: nil, within: .milliseconds(50)) { results.add($0) }
      return results.all.contains { result in
        if case .failure(let error) = result { error.kind == .timedOut } else { false }
      }
    }
    server.signal(SIGCONT)
    #expect(isTimedOut, "\(results.all.suffix(3))")
  }

  @Test("Nothing is kept while there is no connection", arguments: NATSServer.Version.allCases)
  func disconnected(_ version: NATSServer.Version) throws {
    let server = try NATSServer(version)
    let client = try Client([server.url]).connected()
    try client.makeStream()
    #expect(try client.publish("rx.ev.a", "1") == 1)
    server.kill()
    #expect(eventually { client.events.all.contains(.disconnected) })
    let error = #expect(throws: NATSError.self) { try client.publish("rx.ev.a", "2") }
    #expect(error?.kind == .disconnected, "\(error as Any)")
    let unstored = #expect(throws: NATSError.self) { try client.connection.publish("rx.hb.a", [1, 2]) }
    #expect(unstored?.kind == .disconnected, "\(unstored as Any)")
    try server.start()
    #expect(eventually { client.connection.isConnected })
    #expect(try client.connection.stream("RX", within: .seconds(5)).lastSequence == 1)
    #expect(try client.publish("rx.ev.a", "3", .sequence(1)) == 2)
  }
}
