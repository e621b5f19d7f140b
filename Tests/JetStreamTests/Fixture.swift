import Locks
import TestSupport

@testable import JetStream
@testable import NATSClient

/// A connection whose events are collected.
struct Client: Sendable {
  let connection: NATSConnection
  let events: Collector<NATSConnection.Event>

  init(
    _ servers: [String], name: String = "test", credentials: NATSCredentials? = nil, authorityFile: String? = nil
  ) throws {
    let events = Collector<NATSConnection.Event>()
    self.events = events
    connection = try NATSConnection(
      NATSConfiguration(
        servers: servers, name: name, inboxPrefix: "_INBOX_\(name)", credentials: credentials,
        authorityFile: authorityFile)
    ) { events.add($0) }
  }

  /// Waits for the connection.
  func connected() throws -> Client {
    guard eventually({ connection.isConnected }) else { throw TestError("not connected: \(events.all)") }
    return self
  }

  /// Creates the stream of the tests.
  @discardableResult
  func makeStream(replicas: Int = 1) throws -> JetStreamStatus {
    let wanted = JetStreamConfiguration(
      name: "RX", subjects: ["rx.ev.*", "rx.node.*", "rx.target.*"], replicas: replicas,
      maximumAge: .seconds(3_600), maximumBytes: 100_000_000)
    var result: Result<JetStreamStatus, NATSError>?
    // A cluster elects its leaders first.
    eventually(within: .seconds(30)) {
      result = Result { () throws(NATSError) in
        try connection.createStream(wanted, within: .seconds(5))
      }
      if case .success = result { return true }
      return false
    }
    guard let result else { throw TestError("no stream") }
    return try result.get()
  }

  func publish(_ subject: String, _ text: String, _ expected: JetStreamLastMessageExpectation? = nil)
    throws(NATSError)
    -> UInt64
  {
    try connection.publish(subject, Array(text.utf8), expecting: expected, within: .seconds(3))
  }
}

/// Elements from any thread, in their order.
final class Collector<Element: Sendable>: Sendable {
  private let elements = Locked<[Element]>([])

  func add(_ element: Element) { elements.withLock { $0.append(element) } }
  var all: [Element] { elements.withLock { $0 } }
  var count: Int { elements.withLock { $0.count } }
}

extension Collector where Element == JetStreamDelivery {
  /// The messages, without interruptions.
  var messages: [JetStreamMessage] {
    all.compactMap { event in
      if case .message(let message, _) = event { message } else { nil }
    }
  }

  var texts: [String] { messages.map { String(decoding: $0.payload, as: UTF8.self) } }
}
