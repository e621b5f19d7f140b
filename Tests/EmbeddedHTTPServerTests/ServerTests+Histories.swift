import Dispatch
import Locks
import Testing

@testable import EmbeddedHTTPServer
@testable import EventStreams

extension ServerTests {
  @Suite("Stream histories")
  struct Histories {
    /// Pieces of numbered lines, read on another thread.
    private final class Pieces: StreamHistory {
      let read = Tally()
      private let log: EventLog
      private let count: Int
      private let isAvailable: Bool
      private let size: Int

      init(_ log: EventLog, count: Int, size: Int = 10, isAvailable: Bool = true) {
        self.log = log
        self.count = count
        self.size = size
        self.isAvailable = isAvailable
      }

      func bytes(_ number: Int) -> [UInt8] {
        Array((String(repeating: "x", count: size) + "piece \(number)\n").utf8)
      }

      func readNext(_ completion: @escaping @Sendable (StreamPiece) -> Void) {
        read.add()
        let number = read.value
        let piece: StreamPiece =
          if number < count { .more(bytes(number)) } else if !isAvailable { .unavailable } else {
            .last(bytes(number), log.end)
          }
        DispatchQueue.global().async { completion(piece) }
      }
    }

    private func open(_ pieces: Pieces, _ log: EventLog, _ mode: HTTPStreamMode, receiveBuffer: Int32? = nil) throws
      -> (fixture: Fixture, client: RawClient)
    {
      let fixture = try Fixture(mode) { _ in
        let stream = EventStreamResponse(
          feeds: [.init(log: log, cursor: log.end)], preamble: Array("hello\n".utf8), history: pieces,
          heartbeat: .init(interval: .milliseconds(300), bytes: Array("beat\n".utf8)))
        return .now(HTTPResponse(body: .stream(stream)))
      }
      let client = try RawClient(fixture.address, receiveBuffer: receiveBuffer)
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      try client.head()
      try client.body(until: "hello\n")
      return (fixture, client)
    }

    @Test("Pieces follow the preamble in order, then the entries", arguments: HTTPStreamMode.both)
    func order(mode: HTTPStreamMode) throws {
      let log = EventLog()
      log.append(id: 1, kind: 0, bytes: Array("before\n".utf8))
      let pieces = Pieces(log, count: 20, size: 100_000)
      let (fixture, client) = try open(pieces, log, mode)
      for number in 1...20 {
        #expect(try client.body(until: "\n") == String(decoding: pieces.bytes(number), as: UTF8.self))
      }
      #expect(pieces.read.value == 20)
      log.append(id: 2, kind: 0, bytes: Array("after\n".utf8))
      #expect(try client.body(until: "r\n").hasSuffix("after\n"))
      #expect(fixture.server.counters.streamsLagged == 0)
    }

    @Test("A stream that waits for a piece has heartbeats without a position", arguments: HTTPStreamMode.both)
    func heartbeats(mode: HTTPStreamMode) throws {
      /// Has a piece when the test gives one.
      final class Waiting: StreamHistory {
        let completion = Locked<(@Sendable (StreamPiece) -> Void)?>(nil)
        func readNext(_ completion: @escaping @Sendable (StreamPiece) -> Void) {
          self.completion.withLock { $0 = completion }
        }
        func give(_ piece: StreamPiece) {
          let completion = completion.withLock { completion in
            defer { completion = nil }
            return completion
          }
          completion?(piece)
        }
      }
      let log = EventLog()
      log.append(id: 1, kind: 0, bytes: Array("before\n".utf8))
      let history = Waiting()
      let fixture = try Fixture(mode) { _ in
        let stream = EventStreamResponse(
          feeds: [.init(log: log, cursor: log.end)], preamble: Array("hello\n".utf8), history: history,
          heartbeat: .init(
            interval: .milliseconds(100), bytes: Array(":\n".utf8),
            position: .init(prefix: Array("id: ".utf8), suffix: Array("\n\n".utf8))))
        return .now(HTTPResponse(body: .stream(stream)))
      }
      let client = try fixture.client()
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      try client.head()
      #expect(try client.body(until: ":\n:\n") == "hello\n:\n:\n")
      history.give(.more(Array("piece 1\n".utf8)))
      #expect(try client.body(until: "piece 1\n").replacing(":\n", with: "") == "piece 1\n")
      #expect(try client.body(until: ":\n") == ":\n")
      history.give(.last(Array("piece 2\n".utf8), log.end))
      #expect(try client.body(until: "id: 1\n\n").replacing(":\n", with: "") == "piece 2\nid: 1\n\n")
      #expect(fixture.server.counters.streamsLagged == 0)
    }

    @Test("A client that takes nothing holds one piece, and is disconnected", arguments: HTTPStreamMode.both)
    func slow(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let pieces = Pieces(log, count: 1000, size: 4 << 20)
      let (fixture, client) = try open(pieces, log, mode, receiveBuffer: 4096)
      #expect(fixture.eventually { $0.streamsLagged == 1 && $0.streams == 0 })
      #expect(pieces.read.value <= 2)
      client.close()
    }

    @Test("A history that is not available closes the stream after what was sent", arguments: HTTPStreamMode.both)
    func unavailable(mode: HTTPStreamMode) throws {
      let log = EventLog()
      let (fixture, client) = try open(Pieces(log, count: 3, isAvailable: false), log, mode)
      #expect(try client.rest().contains("piece 2\n"))
      #expect(fixture.eventually { $0.streams == 0 })
    }

    @Test("The end of all streams interrupts a history between two pieces", arguments: HTTPStreamMode.both)
    func end(mode: HTTPStreamMode) throws {
      /// Never has a second piece.
      final class Endless: StreamHistory {
        let asked = Tally()
        func readNext(_ completion: @escaping @Sendable (StreamPiece) -> Void) {
          asked.add()
          if asked.value == 1 { completion(.more(Array("first\n".utf8))) }
        }
      }
      let log = EventLog()
      let history = Endless()
      let fixture = try Fixture(mode) { _ in
        let stream = EventStreamResponse(
          feeds: [.init(log: log, cursor: log.end)], history: history, heartbeat: .init(bytes: []))
        return .now(HTTPResponse(body: .stream(stream)))
      }
      let client = try fixture.client()
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      try client.head()
      try client.body(until: "first\n")
      #expect(fixture.eventually { _ in history.asked.value == 2 })
      log.append(id: 1, kind: 0, bytes: Array("entry\n".utf8))
      fixture.server.endStreams(closeEvent: Array("bye\n".utf8))
      #expect(try client.body(until: "bye\n") == "bye\n")
    }
  }
}
