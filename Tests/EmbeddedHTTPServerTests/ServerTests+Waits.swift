import Glibc
import Locks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Long polls")
  struct Waits {
    /// A server whose requests for `/wait` wait, and what it knows of them.
    final class Bench: Sendable {
      let promises = Locked<[HTTPPromise]>([])
      let ended = Tally()

      func fixture(limit: Duration = .seconds(60)) throws -> Fixture {
        try Fixture.serving { [self] request in
          guard request.path == "/wait" else { return Fixture.echo(request) }
          return .wait(
            HTTPWait(limit: limit) {
              HTTPResponse(status: 304)
            } begin: { [self] promise in
              promises.withLock { $0.append(promise) }
              return { [self] in ended.add() }
            })
        }
      }

      func takeAll(_ count: Int) -> [HTTPPromise] {
        eventually { promises.withLock { $0.count } >= count }
        return promises.withLock { promises in
          defer { promises = [] }
          return promises
        }
      }
    }

    private static let request = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("A change answers the wait once")
    func news() throws {
      let bench = Bench()
      let fixture = try bench.fixture()
      let client = try fixture.client()
      for number in 1...5 {
        client.send(Self.request)
        let promises = bench.takeAll(1)
        #expect(promises.count == 1)
        #expect(fixture.eventually { $0.waiting == 1 })
        promises.first?.fulfil(HTTPResponse(body: .bytes(Array("news".utf8))))
        #expect(try client.response().text == "news")
        #expect(fixture.eventually { $0.waiting == 0 && bench.ended.value == number })
      }
    }

    @Test("A timeout answers with the expired response")
    func expiry() throws {
      let bench = Bench()
      let fixture = try bench.fixture(limit: .milliseconds(50))
      let client = try fixture.client()
      client.send(Self.request)
      #expect(try client.response().status == 304)
      #expect(bench.ended.value == 1)
      // Late changes have no effect.
      for promise in bench.takeAll(1) { promise.fulfil(HTTPResponse(status: 201)) }
      client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try client.response().status == 200)
    }

    @Test("The time limit of a wait begins after the handler, which may need longer")
    func slowHandler() throws {
      let bench = Bench()
      let fixture = try Fixture.serving { _ in
        pause(.milliseconds(2_200), because: "the handler needs longer than the limit of its wait")
        return .wait(
          HTTPWait(limit: .seconds(2)) {
            HTTPResponse(status: 304)
          } begin: { promise in
            bench.promises.withLock { $0.append(promise) }
            return {}
          })
      }
      let client = try fixture.client()
      client.send(Self.request)
      let promises = bench.takeAll(1)
      // An expired timer would have answered in the next turn of the loop.
      let turns = fixture.server.loopTurns
      fixture.server.wake()
      #expect(fixture.eventually { _ in fixture.server.loopTurns > turns })
      promises.first?.fulfil(HTTPResponse(body: .bytes(Array("done".utf8))))
      #expect(try client.response().text == "done")
    }

    @Test("A disconnect ends the wait", arguments: [false, true])
    func gone(byReset: Bool) throws {
      let bench = Bench()
      let fixture = try bench.fixture()
      let client = try fixture.client()
      client.send(Self.request)
      #expect(fixture.eventually { $0.waiting == 1 })
      if byReset { client.reset() } else { client.close() }
      #expect(fixture.eventually { $0.waiting == 0 && $0.connections == 0 && bench.ended.value == 1 })
    }

    @Test("The close event answers all waits and starts none")
    func closeEvent() throws {
      let bench = Bench()
      let fixture = try bench.fixture()
      let clients = try (0..<20).map { _ in try fixture.client() }
      for client in clients { client.send(Self.request) }
      #expect(fixture.eventually { $0.waiting == 20 })
      fixture.server.endStreams()
      for client in clients { #expect(try client.response().status == 304) }
      #expect(fixture.eventually { $0.waiting == 0 })
      for client in clients { #expect(try client.receiveAll().isEmpty, "it would ask again and again") }
      let late = try fixture.client()
      late.send(Self.request)
      #expect(try late.response().status == 304)
      #expect(fixture.eventually { _ in bench.ended.value == 20 })
    }

    @Test("A stop does not wait for long polls")
    func stop() throws {
      let bench = Bench()
      let fixture = try bench.fixture()
      let client = try fixture.client()
      client.send(Self.request)
      #expect(fixture.eventually { $0.waiting == 1 })
      let stopped = onThread { [fixture] in fixture.server.stop(grace: .seconds(600)) }
      #expect(try client.response().status == 304)
      stopped()
      #expect(bench.ended.value == 1)
    }

    @Test("A shared body keeps its own headers")
    func sharedWithHeaders() throws {
      let shared = SharedResponseBody(headers: ["X-A": "1"], bytes: Array("all".utf8))
      let fixture = try Fixture.serving { request in
        var response = HTTPResponse(shared: shared)
        if request.path == "/more" { response.headers["X-B"] = "2" }
        if request.path == "/refused" { response.status = 503 }
        return .now(response)
      }
      let client = try fixture.client()
      for (path, status, more) in [("/", 200, nil), ("/more", 200, "2"), ("/refused", 503, nil)]
        as [(String, Int, String?)]
      {
        client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try client.response()
        #expect(response.status == status && response.text == "all")
        #expect(response.header("X-A") == "1" && response.header("X-B") == more)
      }
    }
  }
}
