import EmbeddedHTTPServer
import Locks
import Logging
import StatusClient
import TestSupport
import Testing

/// Streams that end inside a frame: the event of that frame was not received.
@Suite struct InterruptedStreamTests {
  private static let first = #"id: 6f1c2a90-1\#nevent: snapshot\#ndata: {"status":"reachable"}\#n\#n"#
  private static let second = #"id: 6f1c2a90-2\#nevent: status\#ndata: {"x":2}\#n\#n"#

  @Test func theLastIDIsThatOfACompleteFrame() {
    let cut = Array(Self.second.utf8)
    for length in 0...cut.count {
      var reader = SSEReader()
      #expect(reader.read(Array(Self.first.utf8))?.count == 1)
      let events = reader.read(Array(cut[..<length]))
      let isWhole = length == cut.count
      #expect(events?.count == (isWhole ? 1 : 0) && reader.lastID == "6f1c2a90-\(isWhole ? 2 : 1)", "\(length)")
      // The next connection begins with a frame that has no id, and with one that is cut, too.
      reader.reset()
      #expect(reader.read(Array(":\nretry: 3000\ndata: {}\n\nid: 6f1c2a90-3\n".utf8))?.count == 1)
      #expect(reader.lastID == "6f1c2a90-\(isWhole ? 2 : 1)", "\(length)")
    }
  }

  @Test func aFrameWithoutDataHasAnID() {
    var reader = SSEReader()
    #expect(reader.read(Array(":\nid: 6f1c2a90-7\n".utf8)) == [] && reader.lastID == nil)
    #expect(reader.read(Array("\n".utf8)) == [] && reader.lastID == "6f1c2a90-7")
    #expect(reader.read(Array("id: 6f1c2a90-8\r\n\r\n".utf8)) == [] && reader.lastID == "6f1c2a90-8")
    #expect(reader.read(Array("\n\ndata: 1\n\n".utf8))?.count == 1 && reader.lastID == "6f1c2a90-8")
    #expect(reader.read(Array("id: 6f1c2a90-9\nid: 6f1c2a90-a\n\n".utf8)) == [] && reader.lastID == "6f1c2a90-a")
  }

  @Test func watchContinuesAfterTheLastCompleteEvent() throws {
    let continued = Locked<[String?]>([])
    let server = HTTPServer(
      configuration: .init(address: ListenAddress(host: "127.0.0.1", port: 0)),
      handler: { request in
        let count = continued.withLock { continued in
          continued.append(request.headers["Last-Event-ID"])
          return continued.count
        }
        let body =
          switch count {
          case 1: Self.first + Self.second.dropLast(5)
          case 2: ":\nretry: 3000\n"
          default: Self.second
          }
        return .now(HTTPResponse(headers: ["Content-Type": "text/event-stream"], body: .bytes(Array(body.utf8))))
      },
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    try server.start()
    defer { server.stop() }
    let watch = try Program.start(["watch", "--json", "--url", "http://\(server.boundAddress)"])
    defer { watch.kill() }
    #expect(eventually { watch.output.contains(#"{"x":2}"#) }, "\(watch.errors)")
    #expect(continued.withLock(\.self).prefix(3) == [nil, "6f1c2a90-1", "6f1c2a90-1"])
  }
}
