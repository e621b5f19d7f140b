import Locks
import Synchronization
import TestSupport
import Testing

@testable import EventStreams

@Suite("StreamHub")
final class StreamHubTests {
  private let counters = StreamCounters()
  private let log = EventLog(byteCapacity: 8 << 20)
  private let closed = Counter()
  private let idle = Counter()
  private var hub: StreamHub?

  deinit { hub?.stop() }

  /// A hub that disconnects a client which is so many bytes behind.
  private func start(lagLimit: Int = 1 << 20) throws -> StreamHub {
    let made = StreamHub(
      counters: counters, lagLimit: lagLimit, onClose: { [closed] in closed.add() }, onIdle: { [idle] in idle.add() })
    guard let hub = made else { throw TestError("there are no threads or descriptors left") }
    self.hub = hub
    return hub
  }

  private final class Counter: Sendable {
    private let count = Locked(0)
    func add() { count.withLock { $0 += 1 } }
    var value: Int { count.withLock(\.self) }
  }

  private func stream(
    kinds: UInt64 = .max, heartbeat: Duration = .seconds(60), onAbandonment: (@Sendable () -> Void)? = nil
  ) -> EventStreamResponse {
    EventStreamResponse(
      feeds: [.init(log: log, cursor: log.end, selection: .init(kinds: kinds))],
      heartbeat: .init(
        interval: heartbeat, bytes: Array("beat ".utf8), position: .init(prefix: [], suffix: Array("\n".utf8))),
      onAbandonment: onAbandonment)
  }

  /// Hands a stream over as the server does.
  private func open(_ hub: StreamHub, _ stream: EventStreamResponse, unsent: String = "head\n") throws -> StreamClient {
    let client = try StreamClient()
    counters.open.increment()
    hub.adopt(
      StreamHandoff(descriptor: client.served, stream: stream, unsent: Array(unsent.utf8), slotAddress: nil))
    return client
  }

  private func append(_ id: UInt64, _ text: String, kind: UInt8 = 0) {
    log.append(id: id, kind: kind, bytes: Array(text.utf8))
  }

  private var openStreams: Int { counters.open.load(ordering: .relaxed) }

  @Test("What the server has not sent comes first, then each entry as a chunk")
  func entries() throws {
    let hub = try start()
    let stream = self.stream()
    // After the position of the stream, and before the hub has it.
    append(1, "one\n")
    let client = try open(hub, stream)
    #expect(try client.read(until: "one\n\r\n") == "head\n4\r\none\n\r\n")
    append(2, "a longer second\n")
    #expect(try client.read(until: "second\n\r\n") == "10\r\na longer second\n\r\n")
    let bytes = "4\r\none\n\r\n10\r\na longer second\n\r\n".utf8.count
    #expect(eventually { counters.bytes.load(ordering: .relaxed) == bytes })
  }

  @Test("Streams with different selections receive their entries in order")
  func selections() throws {
    let hub = try start()
    let kinds: [UInt64] = [0b1, 0b10, 0b11, 0b1]
    let clients = try kinds.map { try open(hub, stream(kinds: $0)) }
    for client in clients { _ = try client.read(until: "head\n") }
    for id in 1...100 as ClosedRange<UInt64> { append(id, "<\(id)>", kind: UInt8(id % 2)) }
    append(101, "last", kind: 0)
    append(102, "last", kind: 1)
    for (client, kinds) in zip(clients, kinds) {
      let wanted = (1...100).filter { kinds >> UInt64($0 % 2) & 1 == 1 }.map { "<\($0)>" }
      let count = kinds.nonzeroBitCount
      var text = try client.read(until: "last\r\n")
      if count == 2, text.matches(of: /last/).count == 1 { text += try client.read(until: "last\r\n") }
      let chunks = text.split(separator: "\r\n").enumerated().filter { !$0.offset.isMultiple(of: 2) }
      #expect(chunks.map { String($0.element) } == wanted + Array(repeating: "last", count: count))
    }
  }

  @Test("The end of all streams follows what they were to receive")
  func endOfAll() throws {
    let hub = try start()
    let clients = try (0..<5).map { _ in try open(hub, stream()) }
    for client in clients { _ = try client.read(until: "head\n") }
    append(1, "one\n")
    hub.endStreams(closeEvent: Array("bye\n".utf8))
    for client in clients { #expect(try client.read() == "4\r\none\n\r\n4\r\nbye\n\r\n0\r\n\r\n") }
    #expect(eventually { openStreams == 0 && closed.value == 5 && idle.value >= 1 })
    // A stream that arrives later ends the same way.
    #expect(try open(hub, stream()).read() == "head\n4\r\nbye\n\r\n0\r\n\r\n")
  }

  @Test("A client that leaves is counted, and its stream is abandoned")
  func leaving() throws {
    let hub = try start()
    let abandoned = Counter()
    let client = try open(hub, stream { abandoned.add() })
    _ = try client.read(until: "head\n")
    #expect(abandoned.value == 0)
    client.leave()
    #expect(eventually { abandoned.value == 1 && openStreams == 0 && closed.value == 1 })
    #expect(counters.gone.load(ordering: .relaxed) == 1 && counters.lagged.load(ordering: .relaxed) == 0)
  }

  @Test("A client that reads nothing is disconnected, and delays no other")
  func lagging() throws {
    let hub = try start(lagLimit: 100_000)
    let (slow, quick) = (try open(hub, stream()), try open(hub, stream()))
    _ = try quick.read(until: "head\n")
    let line = String(repeating: "x", count: 50_000)
    var id: UInt64 = 0
    try eventually {
      id += 1
      append(id, "\(line)\(id)\n")
      _ = try quick.read(until: "x\(id)\n\r\n")
      return counters.lagged.load(ordering: .relaxed) == 1
    }
    #expect(eventually { openStreams == 1 } && counters.lagged.load(ordering: .relaxed) == 1)
    append(id + 1, "last\n")
    #expect(try quick.read(until: "last\n\r\n") == "5\r\nlast\n\r\n")
    withExtendedLifetime(slow) {}
  }

  @Test("A stream without entries has heartbeats with its position")
  func heartbeats() throws {
    let hub = try start()
    let client = try open(hub, stream(kinds: 0b1, heartbeat: .milliseconds(10)))
    _ = try client.read(until: "head\n7\r\nbeat 0\n\r\n")
    append(7, "unwanted\n", kind: 1)
    let text = try client.read(until: "beat 7\n\r\n")
    #expect(!text.contains("unwanted"))
  }

  @Test("A client without permission is disconnected in the middle of its body")
  func permission() throws {
    let hub = try start()
    let isPermitted = Locked(true)
    let permit = { @Sendable in isPermitted.withLock(\.self) }
    var stream = self.stream(heartbeat: .milliseconds(10))
    stream.isPermitted = permit
    let client = try open(hub, stream)
    _ = try client.read(until: "beat 0\n\r\n")
    isPermitted.withLock { $0 = false }
    #expect(try !client.read().contains("0\r\n\r\n"))
    #expect(eventually { openStreams == 0 })
  }

  @Test("A stop closes the streams without the end of their bodies, and releases them")
  func stop() throws {
    let hub = try start()
    let abandoned = Counter()
    let client = try open(hub, stream { abandoned.add() })
    _ = try client.read(until: "head\n")
    hub.stop()
    self.hub = nil
    #expect(try client.read() == "")
    #expect(openStreams == 0 && closed.value == 1 && abandoned.value == 1)
  }
}
