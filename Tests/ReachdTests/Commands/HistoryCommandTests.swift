import EmbeddedHTTPServer
import Logging
import TestSupport
import Testing

/// `reachd history` and `reachd targets --since`, against a server with fixed responses.
@Suite struct HistoryCommandTests {
  private func serve(_ answer: @escaping @Sendable (HTTPRequest) -> String) throws -> HTTPServer {
    let server = HTTPServer(
      configuration: .init(address: ListenAddress(host: "127.0.0.1", port: 0)),
      handler: { .now(HTTPResponse(body: .bytes(Array(answer($0).utf8)))) },
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    try server.start()
    return server
  }

  @Test func everyPageIsPrintedOldestFirst() throws {
    let entry = #"{"id":"6f1c2a90-1","time":"T","type":"target","subject":"target:db","from":"up","to":"down","#
    let first = entry + #""reason":"refused","cause":["check"],"flapping":false,"clean":null}"#
    let second =
      #"{"id":null,"time":"U","type":"service","subject":"service","from":"running","to":"stopped","#
      + #""reason":null,"cause":[],"flapping":false,"clean":false}"#
    let server = try serve { request in
      let isFirst = !request.query.contains { $0.name == "cursor" }
      let query = request.query.map { "\($0.name)=\($0.value)" }
      guard query.starts(with: ["order=asc", "limit=1000", "since=-2h", "subject=target:db"]) else { return "\(query)" }
      return isFirst ? #"{"history":[\#(first)],"next":"e1"}"# : #"{"history":[\#(second)],"next":null}"#
    }
    defer { server.stop() }
    let words = ["history", "--url", "http://\(server.boundAddress)", "--since", "2h", "--subject", "target:db"]
    let (end, output, errors) = try Program.run(words)
    #expect(end == .exited(0), "\(errors)")
    #expect(output == "T target:db up -> down refused (check)\nU service running -> stopped unclean\n")
    let json = try Program.run(words + ["--json"]).output.split(separator: "\n").map(String.init)
    #expect(json == [first, second])
  }

  @Test func targetsHaveTheirAvailability() throws {
    let server = try serve { request in
      if request.path == "/fleet/targets" { return #"{"targets":[],"next":null}"# }
      return request.path == "/uptime"
        ? #"{"targets":[{"id":"db","availability":0.99995,"outages":1},{"id":"x","availability":null,"outages":0}],"next":null}"#
        : #"{"targets":[{"id":"db","target":"tcp://a:1","state":"up","since":"T"},"#
          + #"{"id":"x","target":"tcp://b:1","state":"paused","since":"T"}],"next":null}"#
    }
    defer { server.stop() }
    let (end, output, _) = try Program.run(["targets", "--url", "http://\(server.boundAddress)", "--since", "24h"])
    #expect(end == .exited(0))
    #expect(output == "up db tcp://a:1 since T 99.99 % 1 outage\npaused x tcp://b:1 since T unknown 0 outages\n")
  }

  @Test(arguments: [
    (#""outages":0,"endedOutages":0,"seconds":{"up":0,"down":60}"#, "0.00 % 1 outage"),
    (#""outages":0,"endedOutages":0,"seconds":{"up":0,"down":0.5}"#, "0.00 % 1 outage"),
    (#""outages":1,"endedOutages":2,"seconds":{"up":9,"down":60}"#, "0.00 % 2 outages"),
    (#""outages":3,"endedOutages":2,"seconds":{"up":9,"down":60}"#, "0.00 % 3 outages"),
    (#""outages":0,"endedOutages":0,"seconds":{"up":9,"down":0}"#, "0.00 % 0 outages"),
    (#""outages":0,"endedOutages":0,"seconds":{"up":9,"down":0.0}"#, "0.00 % 0 outages"),
  ])
  func anOutageThatBeganBeforeTheWindowCounts(uptime: String, text: String) throws {
    let server = try serve { request in
      if request.path == "/fleet/targets" { return #"{"targets":[],"next":null}"# }
      return request.path == "/uptime"
        ? #"{"targets":[{"id":"db","availability":0,\#(uptime)}],"next":null}"#
        : #"{"targets":[{"id":"db","target":"tcp://a:1","state":"down","since":"T"}],"next":null}"#
    }
    defer { server.stop() }
    let (end, output, _) = try Program.run(["targets", "--url", "http://\(server.boundAddress)", "--since", "1m"])
    // A target is down.
    #expect(end == .exited(1))
    #expect(output == "down db tcp://a:1 since T \(text)\n")
  }

  @Test func aServiceWithoutHistoryIsExplained() throws {
    let service = try RunningService()
    let (end, output, errors) = try Program.run(["history", "--url", service.url])
    #expect(end == .exited(2) && output.isEmpty)
    #expect(errors.contains("503") && errors.contains("--data DIR"))
  }
}
