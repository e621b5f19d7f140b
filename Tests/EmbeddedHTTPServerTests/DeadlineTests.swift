import Glibc
import Logging
import Testing

@testable import EmbeddedHTTPServer

@Suite("Deadlines")
struct DeadlineTests {
  @Test("The earliest deadline comes first, before and after a sweep", arguments: [1, 2, 3] as [UInt64])
  func order(seed: UInt64) {
    var generator = SeededGenerator(state: seed)
    var heap = DeadlineHeap()
    for token in 0..<5000 as Range<UInt64> {
      heap.push(.random(in: 1...1_000_000, using: &generator), .request, token: token)
    }
    #expect(heap.needsSweep)
    heap.sweep { $0.token % 5 == 0 }
    #expect(heap.count == 1000)
    #expect(!heap.needsSweep)
    for token in 5000..<5100 as Range<UInt64> {
      heap.push(.random(in: 1...1_000_000, using: &generator), .reply, token: token)
    }
    #expect(heap.pop(at: 0) == nil)
    var last: UInt64 = 0
    var count = 0
    while let entry = heap.pop(at: .max) {
      #expect(entry.time >= last)
      #expect(entry.token % 5 == 0 || entry.purpose == .reply)
      last = entry.time
      count += 1
    }
    #expect(count == 1100)
  }

  @Test("Finished requests leave no deadlines")
  func heap() throws {
    let socket = try ListeningSocket(ListenAddress(host: "127.0.0.1", port: 0), mode: 0)
    let address = socket.address
    let inbox = try #require(ServerInbox())
    // Another thread's until that has ended.
    nonisolated(unsafe) let loop = try ServerLoop(
      configuration: .init(address: address), socket: socket, identity: nil, inbox: inbox, counters: ServerCounters(),
      handler: { _ in
        .wait(
          HTTPWait(limit: .seconds(600)) {
            HTTPResponse(status: 304)
          } begin: { promise in
            promise.fulfil(HTTPResponse())
            return {}
          })
      }, refusal: RequestRefusal.plainText, answered: nil, logger: Logger(label: "http"))
    let ended = onThread { unsafe loop.run() }
    defer { inbox.post(.stop(grace: .zero)) }
    let rounds = 3 * Limits.unsweptDeadlines / 20
    for round in 0..<rounds {
      let client = try RawClient(address)
      client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 20))
      for _ in 0..<20 { #expect(try client.response().status == 200, "\(round)") }
    }
    inbox.post(.stop(grace: .zero))
    ended()
    #expect(unsafe loop.deadlines.count <= Limits.unsweptDeadlines + 4)
    #expect(unsafe loop.deadlines.count > 0)
  }
}
