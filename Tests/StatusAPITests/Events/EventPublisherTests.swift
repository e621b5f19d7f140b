import JSONFormat
import Events
import EventStreams
import EmbeddedHTTPServer
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import StatusAPI

@Suite struct EventPublisherTests {
  /// A subscriber during many changes must receive each number once, in snapshot and events together.
  @Test func snapshotAndLogCursorAreConsistent() async throws {
    let service = try ScriptedService()
    let feed = EventPublisher(epoch: "0000abcd")
    service.monitor.attach(feed)
    let changes = 600
    let writer = Task.detached {
      for number in 0..<changes { service.kernel.change { $0.change("eth0") { $0.mtu = 1000 + UInt32(number) } } }
    }
    let streams = await withTaskGroup(of: [EventStreamResponse].self) { group in
      for _ in 0..<4 {
        group.addTask {
          var streams: [EventStreamResponse] = []
          // One about every thirty changes, so that all of them fall into the rush.
          while streams.count < changes / 30 {
            guard (feed.history.log.newestID ?? 0) >= UInt64(streams.count * 30) else {
              await Task.yield()
              continue
            }
            let (frame, cursor) = feed.subscribe()
            streams.append(
              EventStreamResponse(
                feeds: [.init(log: feed.history.log, cursor: cursor)], preamble: frame,
                heartbeat: .init(bytes: SSEFrame.comment)))
          }
          return streams
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    await writer.value
    let last = service.monitor.snapshot.sequence
    for stream in streams {
      let ids = stream.receivedBytes.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: "id: ".utf8) }
      let sequences = ids.compactMap { EventID(String(decoding: $0.dropFirst(4), as: UTF8.self))?.sequence }
      #expect(try sequences == Array(#require(sequences.first)...last))
    }
  }

  @Test func documentIsAtLeastAsNewAsItsEvent() async throws {
    let service = try ScriptedService()
    let feed = EventPublisher(epoch: "0000abcd")
    service.monitor.attach(feed)
    let writer = Task.detached {
      for number in 0..<2000 { service.kernel.change { $0.change("eth0") { $0.mtu = 1000 + UInt32(number) } } }
    }
    let expected = UInt64(2001)
    while let newest = Optional(feed.history.log.newestID ?? 0), newest < expected {
      #expect(feed.documents.snapshot.sequence >= newest)
      await Task.yield()
    }
    await writer.value
    #expect(feed.documents.snapshot.sequence == expected)
  }

  @Test func hostTransitionsAreNotLogged() throws {
    let service = try ScriptedService()
    let recorder = UpdateRecorder()
    let target = try ReachabilityTarget(host: "10.0.0.9")
    let subscription = service.monitor.listen(to: .host, watching: [target], on: .immediate) { recorder.record($0) }
    service.kernel.change { $0.dropCarrier("eth0") }
    service.kernel.advance(by: .seconds(1))
    #expect(recorder.updates.contains { $0.host?.path.status == .notReachable })
    let types = try service.ask("/events", ["Accept": "application/json"]).array().map { $0["type"] as? String }
    #expect(types == ["status", "interface", "status"])
    subscription?.cancel()
  }

  @Test func eventsAreEncodedAsTheyWereDecoded() throws {
    let service = try ScriptedService()
    let body = Array(#"{"target": "tcp://10.0.0.9:1", "labels": {"env": "prod"}}"#.utf8)
    let json: HTTPHeaders = ["Content-Type": "application/json"]
    #expect(try service.ask("/targets/db", json, method: "PUT", body: body).status < 300)
    service.kernel.change { $0.change("eth0") { $0.mtu = 1400 } }
    service.kernel.change { $0.dropCarrier("eth0") }
    service.kernel.advance(by: .seconds(1))
    let text = try service.ask("/events", ["Accept": "application/json"]).text
    let lines = text.dropFirst().dropLast(2).split(separator: "\n").map { $0.hasSuffix(",") ? $0.dropLast() : $0 }
    #expect(lines.count > 3)
    for line in lines {
      let event = try #require(Event(data: Array(line.utf8)))
      #expect(String(decoding: event.data.bytes, as: UTF8.self) == line)
    }
  }

  @Test func eachRunHasItsOwnEpoch() {
    let epochs = Set((0..<100).map { _ in EventID.newEpoch() })
    #expect(epochs.count > 95)
    #expect(epochs.allSatisfy { $0.utf8.count == 8 && $0.allSatisfy { "0123456789abcdef".contains($0) } })
  }
}
