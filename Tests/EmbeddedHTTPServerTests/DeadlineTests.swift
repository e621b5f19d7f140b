import EventLoop
import Glibc
import Logging
import Testing

@testable import EmbeddedHTTPServer

@Suite("Deadlines")
struct DeadlineTests {
  @Test("Finished requests leave no deadlines")
  func heap() throws {
    let socket = try ListeningSocket(ListenAddress(host: "127.0.0.1", port: 0), mode: 0)
    let address = socket.address
    let inbox = try HTTPServerInbox()
    // Another thread's until that has ended.
    nonisolated(unsafe) let loop = try HTTPServerLoop(
      configuration: .init(address: address), socket: socket, identity: nil, inbox: inbox,
      counters: HTTPServerCounters(),
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
    let rounds = 100
    for round in 0..<rounds {
      let client = try RawClient(address)
      client.send(String(repeating: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", count: 20))
      for _ in 0..<20 { #expect(try client.response().status == 200, "\(round)") }
    }
    inbox.post(.stop(grace: .zero))
    ended()
    // What is left are timers of the stop.
    #expect(unsafe loop.context.timers.count <= 3)
  }
}
