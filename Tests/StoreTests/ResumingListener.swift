import TestSupport
import Testing

/// A client of the event stream over many restarts, with all that it has received.
final class ResumingListener {
  private(set) var received: [StreamEvent] = []
  private var lastID: String?
  private var reader: EventReader?

  /// The number of the last event.
  var lastNumber: Int? { lastID?.split(separator: "-").last.flatMap { Int($0) } }

  /// Opens the stream after the last event; the first time it begins with a snapshot.
  func connect(to daemon: StoreDaemon) throws {
    let reader = try daemon.events(after: lastID)
    self.reader = reader
    guard lastID == nil else { return }
    let snapshot = try #require(try reader.next())
    #expect(snapshot.name == "snapshot")
    let id: String = try #require(snapshot.id)
    lastID = id
  }

  /// Reads one event.
  @discardableResult
  func read() throws -> StreamEvent {
    let event = try #require(try reader?.next())
    try take(event)
    return event
  }

  /// Reads what a killed program had sent, which is still in the socket.
  func drain() throws {
    while let event = try? reader?.next() { try take(event) }
    reader = nil
  }

  private func take(_ event: StreamEvent) throws {
    #expect(event.name != "gap" && event.name != "snapshot", "\(event)")
    let id: String = try #require(event.id)
    lastID = id
    received.append(event)
  }
}

extension StoreFixture {
  /// The ids of the stored events, all of which the listeners have received since their first one, and nothing else.
  func compareWithStore(_ listeners: [ResumingListener]) throws -> [String] {
    let stored = try sqlite("SELECT CAST(body AS TEXT) FROM event ORDER BY seq").split(separator: "\n")
    let ids = stored.filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    let contents = try stored.filter { $0.hasPrefix("data: ") }.map { try JSONValue($0.dropFirst(6)) }
    let first = try #require(listeners.first?.received.first?.id.flatMap { ids.firstIndex(of: $0) })
    for listener in listeners {
      #expect(listener.received.map(\.id) == ids[first...].map(Optional.some), "each event once, in order")
      #expect(listener.received.map(\.data) == Array(contents[first...]), "no id has two contents")
    }
    #expect(Set(ids.map { $0.prefix(8) }).count == 1)
    #expect(try sqlite("SELECT max(seq) - min(seq) + 1 - count(*) FROM event") == "0\n")
    #expect(try sqlite("SELECT count(*) FROM hole") == "0\n")
    #expect(try sqlite("PRAGMA integrity_check") == "ok\n")
    return ids
  }
}
