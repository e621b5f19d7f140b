import Glibc
import Locks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Shared bodies and promises")
  struct Promises {
    /// Holds what a handler leaves for a test.
    final class Shelf<Value: Sendable>: Sendable {
      private let value: Locked<Value?>
      init(_ value: Value? = nil) { self.value = Locked(value) }
      func put(_ new: Value?) { value.withLock { $0 = new } }
      func take() -> Value? {
        value.withLock { current in
          defer { current = nil }
          return current
        }
      }
      var peek: Value? { value.withLock { $0 } }
      /// Takes the value as soon as there is one.
      func wait() -> Value? {
        eventually { peek != nil }
        return take()
      }
    }

    @Test("Replacing a shared body under load keeps responses whole")
    func swap() throws {
      let current = Shelf(SharedResponseBody(headers: ["X-Letter": "a"], bytes: [UInt8](repeating: 97, count: 5000)))
      let fixture = try Fixture.serving { _ in .now(current.peek.map { HTTPResponse(shared: $0) } ?? HTTPResponse()) }
      let torn = Tally()
      let done = Tally()
      let waits = (0..<4).map { _ in
        onThread { [fixture] in
          defer { done.add() }
          guard let client = try? fixture.client() else { return torn.add() }
          for _ in 0..<500 {
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            guard let response = try? client.response(), let first = response.body.first,
              response.body == [UInt8](repeating: first, count: 5000),
              response.header("X-Letter") == String(UnicodeScalar(first))
            else { return torn.add() }
          }
        }
      }
      var letter: UInt8 = 97
      while done.value < 4 {
        letter = letter == 122 ? 97 : letter + 1
        current.put(
          SharedResponseBody(
            headers: ["X-Letter": String(UnicodeScalar(letter))], bytes: [UInt8](repeating: letter, count: 5000)))
        pause(.microseconds(100), because: "a body is sent more than once before the next one replaces it")
      }
      for wait in waits { wait() }
      #expect(torn.value == 0)
      #expect(fixture.server.counters.requests == 2000)
    }

    private static func later(_ shelf: Shelf<HTTPPromise>) -> HTTPHandler {
      { request in request.path == "/later" ? .later { shelf.put($0) } : Fixture.echo(request) }
    }

    @Test("A promise is fulfilled once from another thread")
    func fulfilled() throws {
      let shelf = Shelf<HTTPPromise>()
      let fixture = try Fixture(handler: Self.later(shelf))
      let client = try fixture.client()
      for number in 1...20 {
        client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
        let promise = try #require(shelf.wait())
        onThread {
          promise.fulfil(HTTPResponse(body: .bytes(Array("\(number)".utf8))))
          promise.fulfil(HTTPResponse(body: .bytes(Array("again".utf8))))
        }()
        #expect(try client.response().text == "\(number)")
        client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.response().text == "GET /x [] a ")
      }
    }

    @Test("A promise may be fulfilled inside the handler")
    func immediate() throws {
      let fixture = try Fixture.serving { _ in .later { $0.fulfil(HTTPResponse(status: 201)) } }
      let client = try fixture.client()
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().status == 201)
      #expect(try client.response().status == 201)
    }

    @Test("A dropped promise is answered 500")
    func dropped() throws {
      let fixture = try Fixture.serving { _ in .later { _ in } }
      let client = try fixture.client()
      client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().status == 500)
    }

    @Test("An unfulfilled promise times out with 500")
    func tooLate() throws {
      let shelf = Shelf<HTTPPromise>()
      let fixture = try Fixture(configure: { $0.replyTime = .milliseconds(100) }, handler: Self.later(shelf))
      let client = try fixture.client()
      client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().status == 500)
      try #require(shelf.wait()).fulfil(HTTPResponse(status: 201))
      client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().status == 200)
    }

    @Test("A disconnect during a wait leaks nothing", arguments: [false, true])
    func gone(byReset: Bool) throws {
      let shelf = Shelf<HTTPPromise>()
      let fixture = try Fixture(handler: Self.later(shelf))
      let bystander = try fixture.client()
      #expect(fixture.eventually { $0.connections == 1 })
      let client = try fixture.client()
      client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
      let promise = try #require(shelf.wait())
      if byReset { client.reset() } else { client.close() }
      #expect(fixture.eventually { $0.connections == 1 })
      #expect(fixture.server.counters.expired == 0)
      bystander.close()
      promise.fulfil(HTTPResponse())
      let next = try fixture.client()
      next.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try next.response().status == 200)
    }

    @Test("A promise may outlive its server")
    func outlived() throws {
      let shelf = Shelf<HTTPPromise>()
      let fixture = try Fixture(handler: Self.later(shelf))
      let client = try fixture.client()
      client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
      let promise = try #require(shelf.wait())
      fixture.server.stop()
      promise.fulfil(HTTPResponse())
      #expect(try client.receiveAll().isEmpty)
    }

    @Test("A stop waits only until the promise is fulfilled")
    func graceful() throws {
      let shelf = Shelf<HTTPPromise>()
      // No other deadline is to end its sleep.
      let fixture = try Fixture(configure: { $0.requestHeadTime = .seconds(120) }, handler: Self.later(shelf))
      let client = try fixture.client()
      client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
      let promise = try #require(shelf.wait())
      let stopped = onThread { [fixture] in fixture.server.stop(grace: .seconds(120)) }
      fixture.waitUntilRefusing()
      promise.fulfil(HTTPResponse(body: .bytes(Array("done".utf8))))
      #expect(try client.response().text == "done")
      #expect(fixture.eventually { _ in !fixture.server.isServing })
      stopped()
    }
  }
}
