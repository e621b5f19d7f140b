import Glibc
import Locks
import TestSupport
import Testing

@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Requests at the end of a server")
  struct LastRequests {
    /// Clients at the same time, and rounds: the windows in which a request could be lost are microseconds wide.
    private static let clients = 32
    private static let rounds = 20

    /// What became of the clients of one round.
    private struct Outcome {
      var answered = 0
      var lost: [String] = []
    }

    /// Connects and asks, again and again, until the server refuses connections.
    private func ask(_ address: ListenAddress, _ outcome: borrowing Locked<Outcome>) {
      while let client = try? RawClient(address) {
        pause(.milliseconds(1), because: "a client that is a round trip away is connected this long before it asks")
        client.send("GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let answer = Result { try client.receiveAll() }
        outcome.withLock { outcome in
          if case .success(let text) = answer, text.hasSuffix("GET /last [] a ") {
            outcome.answered += 1
          } else {
            outcome.lost.append("\(answer)")
          }
        }
      }
    }

    @Test("Every client that connected before the listener closed is answered")
    func everyConnection() throws {
      for round in 0..<Self.rounds {
        let fixture = try Fixture()
        let outcome = Locked(Outcome())
        let joins = (0..<Self.clients).map { _ in onThread { [fixture] in ask(fixture.address, outcome) } }
        #expect(fixture.eventually { _ in outcome.withLock { $0.answered } >= 100 })
        fixture.server.stopAccepting()
        fixture.server.endStreams()
        fixture.server.stop(grace: .seconds(20))
        for join in joins { join() }
        let lost = outcome.withLock { $0.lost }
        #expect(lost.isEmpty, "round \(round): \(lost.count) lost: \(lost.prefix(3))")
      }
    }

    @Test("A client that connected and has not asked yet is answered")
    func connectedOnly() throws {
      let fixture = try Fixture()
      let early = try fixture.client()
      #expect(fixture.eventually { $0.connections == 1 })
      let half = try fixture.client()
      half.send("GET /half HTTP/1.1\r\nHost")
      let stopped = onThread { [fixture] in fixture.server.stop(grace: .seconds(20)) }
      fixture.waitUntilRefusing()
      early.send("GET /early HTTP/1.1\r\nHost: a\r\n\r\n")
      half.send(": a\r\n\r\n")
      #expect(try early.receiveAll().hasSuffix("GET /early [] a "))
      #expect(try half.receiveAll().hasSuffix("GET /half [] a "))
      stopped()
    }

    @Test("A client that connected and asks nothing does not delay a stop until its grace is over")
    func silent() throws {
      let fixture = try Fixture()
      let client = try fixture.client()
      let half = try fixture.client()
      half.send("GET / HTTP/1.1\r\n")
      #expect(fixture.eventually { $0.connections == 2 })
      fixture.server.stop(grace: .seconds(3_600))
      #expect(try client.receiveAll().isEmpty)
    }
  }
}
