import Testing

@testable import EmbeddedHTTPServer

extension ServerTests {
  @Suite("Request corpus")
  struct Corpus {
    /// How a client's bytes come: nothing may depend on it.
    enum Delivery: CaseIterable {
      case whole, inPieces, behindAGoodRequest
    }

    @Test("is answered as its RFC requires, without request smuggling", arguments: WireCase.corpus)
    func outcome(_ wire: WireCase) throws {
      for delivery in Delivery.allCases { try play(wire, delivery) }
    }

    private func play(_ wire: WireCase, _ delivery: Delivery) throws {
      let served = Tally()
      let hidden = Tally()
      let fixture = try Fixture.serving { request in
        (request.headers["Host"] == "hidden" ? hidden : served).add()
        return Fixture.echo(request)
      }
      let client = try fixture.client()
      var expected = 0
      if delivery == .behindAGoodRequest {
        client.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.response().text == "GET /first [] a ")
        expected = 1
      }
      let bytes = wire.bytes + Array("GET /next HTTP/1.1\r\nHost: hidden\r\nConnection: close\r\n\r\n".utf8)
      if delivery == .inPieces {
        for start in stride(from: 0, to: bytes.count, by: bytes.count > 2_000 ? 700 : 7) {
          client.send(Array(bytes[start..<min(start + (bytes.count > 2_000 ? 700 : 7), bytes.count)]))
        }
      } else {
        client.send(bytes)
      }
      let answer = try client.receiveAll()
      let heads = answer.components(of: "HTTP/1.1 ")
      switch wire.outcome {
      case .refused(let status), .refusedByLibrary(let status):
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(delivery): \(answer)")
        #expect(answer.lowercased().contains("connection: close"), "\(delivery)")
        #expect(heads == 1, "\(delivery): \(answer)")
        if wire.outcome == .refused(status) { #expect(!answer.contains("<html>"), "\(delivery): \(answer)") }
      case .hungUp:
        #expect(answer.isEmpty, "\(delivery): \(answer)")
      case .served:
        #expect(answer.components(of: "HTTP/1.1 200 ") == 2 && heads == 2, "\(delivery): \(answer)")
        expected += 1
      case .servedLast:
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && heads == 1, "\(delivery): \(answer)")
        expected += 1
      }
      #expect(served.value == expected, "\(delivery)")
      #expect(hidden.value == (wire.outcome == .served ? 1 : 0), "\(delivery)")
    }

    @Test("Long heads and malformed lengths are refused among concurrent heads")
    func amongOthers() throws {
      let fixture = try Fixture()
      let slow = try fixture.client()
      slow.send("GET /slow HTTP/1.1\r\nHost: a\r\nX: ")
      let other = try fixture.client()
      other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(try other.response().status == 200)
      for text in ["+1", "x", "1x"] {
        let answer = try fixture.exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(text)\r\n\r\na")
        #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.components(of: "HTTP/1.1 ") == 1, "\(answer)")
      }
      // Two heads are incomplete: it is not reported which one is too long, so the slow one must not be affected.
      let long = String(repeating: "a", count: 20_000)
      #expect(try fixture.exchange("GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n").hasPrefix("HTTP/1.1 431 "))
      slow.send("y\r\n\r\n")
      #expect(try slow.response().text == "GET /slow [] a ")
    }

    @Test("Refusals by libmicrohttpd are counted")
    func counted() throws {
      let fixture = try Fixture()
      _ = try fixture.exchange("GET /\r\n\r\n")
      _ = try fixture.exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n")
      _ = try fixture.exchange("GET / HTTP/1.1\r\n\r\n")
      #expect(fixture.server.counters.refused == 3)
    }
  }
}
