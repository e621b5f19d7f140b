import Testing

@testable import EmbeddedHTTPServer

/// Answers that stand until something changes.
@Suite struct CachedResponseTests {
  let epoch = ResponseCacheGeneration()
  let asked = Tally()
  let repeated = Tally()

  /// A server whose answer is the number of the question, and stands.
  func fixture() throws -> Fixture {
    let (epoch, asked, repeated) = (epoch, asked, repeated)
    return try Fixture.serving { request in
      let number = epoch.current
      asked.add()
      let body = SharedResponseBody(headers: ["X-Asked": "\(asked.value)"], bytes: Array(request.target.utf8))
      var response = HTTPResponse(shared: body)
      response.cacheValidity = ResponseCacheValidity(generation: epoch, number: number) { repeated.add() }
      if request.target == "/other" { response.headers["X-More"] = "1" }
      return .now(response)
    }
  }

  /// The question whose answer comes back.
  func ask(_ client: RawClient, _ head: String) throws -> Int {
    client.send(head + "\r\nHost: x\r\n\r\n")
    let response = try client.response()
    #expect(response.status == 200)
    return try #require(response.header("X-Asked").flatMap { Int($0) })
  }

  @Test("An identical head is answered from the cache")
  func cacheValidity() throws {
    let fixture = try fixture()
    let client = try fixture.client()
    let get = "GET /a HTTP/1.1"
    #expect(try [ask(client, get), ask(client, get), ask(client, get)] == [1, 1, 1])
    #expect(repeated.value == 2)
    epoch.advance()
    #expect(try [ask(client, get), ask(client, get)] == [2, 2])
    // Pending requests get a new response when it changes.
    for _ in 0..<100 {
      epoch.advance()
      let next = asked.value + 1
      #expect(try ask(client, get) == next)
    }
    #expect(fixture.server.counters.bodyBytes == 105 * 2)
  }

  @Test("Only unmodified shared bodies are cached, per connection")
  func bounds() throws {
    let fixture = try fixture()
    let client = try fixture.client()
    #expect(try ask(client, "GET /a HTTP/1.1") == 1)
    #expect(try ask(client, "GET /b HTTP/1.1") == 2)
    #expect(try ask(client, "GET /a HTTP/1.1") == 3, "one head is remembered")
    #expect(try ask(client, "GET /a HTTP/1.1\r\nAccept: */*") == 4)
    #expect(try ask(fixture.client(), "GET /a HTTP/1.1") == 5)
    #expect(try [ask(client, "GET /other HTTP/1.1"), ask(client, "GET /other HTTP/1.1")] == [6, 7])
    #expect(repeated.value == 0)
  }

  @Test("A request with a body clears the cached response")
  func bodies() throws {
    let fixture = try fixture()
    let client = try fixture.client()
    let post = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n"
    #expect(try [ask(client, "GET /a HTTP/1.1"), ask(client, "GET /a HTTP/1.1")] == [1, 1])
    for number in 2...3 {
      client.send(post + "x")
      #expect(try client.response().header("X-Asked") == "\(number)")
    }
    #expect(try [ask(client, "GET /a HTTP/1.1"), ask(client, "GET /a HTTP/1.1")] == [4, 4])
  }

  @Test("Pipelined heads are answered in order")
  func pipelined() throws {
    let fixture = try fixture()
    let client = try fixture.client()
    client.send(String(repeating: "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", count: 50))
    for _ in 0..<50 { #expect(try client.response().header("X-Asked") == "1") }
    client.send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(try client.receiveAll().contains("X-Asked: 2"))
  }
}
