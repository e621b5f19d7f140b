import EventStreams
import EmbeddedHTTPServer
import Foundation
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import HTTPRouting
@testable import StatusAPI

@Suite struct EventRoutesTests {
  /// A service whose history is: 1 first verdict, 2 carrier lost, 3 not reachable, 4 carrier gained, 5 reachable.
  private func serviceWithHistory() throws -> ScriptedService {
    let service = try ScriptedService()
    service.kernel.change { $0.dropCarrier("eth0") }
    service.kernel.advance(by: .seconds(1))
    service.kernel.change { $0.restoreCarrier("eth0") }
    return service
  }

  private func epoch(_ service: ScriptedService) throws -> String {
    let id = try #require(try service.ask("/status").object()["id"] as? String)
    return String(id.prefix(8))
  }

  private func frames(_ service: ScriptedService, _ target: String = "/events", _ headers: HTTPHeaders = [:]) throws
    -> [Frame]
  {
    Frame.parse(try service.ask(target, headers).text)
  }

  @Test func streamBeforeTheFirstReadingWaitsForIt() throws {
    let service = try ScriptedService(started: false)
    let request = HTTPRequest(
      method: "GET", target: "/events", headers: ["Host": "127.0.0.1:8080"], body: [], peer: "127.0.0.1:50000",
      isLoopbackListener: true)
    guard case .wait = service.router.handle(request) else {
      Issue.record("it did not wait")
      return
    }
    try service.monitor.start()
    let first = try #require(try frames(service).first)
    #expect(first.event == "snapshot" && first.data?.contains("\"name\":\"eth0\"") == true)
  }

  @Test func newStreamStartsWithASnapshotThenEvents() throws {
    let service = try ScriptedService()
    let response = try service.ask("/events")
    #expect(response.headers["Cache-Control"] == "no-store")
    #expect(response.headers["X-Accel-Buffering"] == "no")
    #expect(response.text.hasPrefix("retry: 3000\nid: "))
    service.kernel.change { $0.dropCarrier("eth0") }
    service.kernel.advance(by: .seconds(1))
    let epoch = try epoch(service)
    let frames = Frame.parse(response.text)
    #expect(frames.map(\.event) == ["snapshot", "interface", "status"])
    #expect(frames.map(\.id) == ["\(epoch)-1", "\(epoch)-2", "\(epoch)-3"])
    #expect(frames[0].data?.contains("\"status\":\"reachable\"") == true)
  }

  @Test func snapshotEqualsTheStatusDocument() throws {
    let service = try serviceWithHistory()
    let document = try service.ask("/status").text
    #expect(try frames(service)[0].data == document.dropLast().description)
  }

  @Test func resumedStreamReplaysMissedEvents() throws {
    let service = try serviceWithHistory()
    let epoch = try epoch(service)
    for known in 0...5 {
      let expected = (known..<5).map { "\(epoch)-\($0 + 1)" }
      let byHeader = try frames(service, "/events", ["Last-Event-ID": "\(epoch)-\(known)"])
      #expect(byHeader.map(\.id) == expected)
      #expect(try frames(service, "/events?lastEventId=\(epoch)-\(known)") == byHeader)
      #expect(byHeader.allSatisfy { $0.event != "snapshot" })
    }
  }

  @Test func resumedStreamWithoutNewsStartsWithAComment() throws {
    let service = try serviceWithHistory()
    let response = try service.ask("/events", ["Last-Event-ID": "\(try epoch(service))-5"])
    #expect(response.text == ":\nretry: 3000\n")
    service.kernel.change { $0.dropCarrier("eth0") }
    #expect(response.text.hasPrefix(":\nretry: 3000\nid: \(try epoch(service))-6\nevent: interface\n"))
  }

  @Test func everyFrameHasDataOrAnID() throws {
    let service = try serviceWithHistory()
    let epoch = try epoch(service)
    for target in ["/events", "/events?host=10.0.0.9", "/events?lastEventId=\(epoch)-3", "/events?lastEventId=x"] {
      let blocks = try service.ask(target).text.components(separatedBy: "\n\n")
      #expect(blocks.count > 1 && blocks.last == "" && blocks.dropLast().allSatisfy { $0.contains("\ndata: ") })
    }
  }

  @Test func emptyLastEventIDIsNone() throws {
    let service = try serviceWithHistory()
    let epoch = try epoch(service)
    let first = try frames(service, "/events", ["Last-Event-ID": ""])
    #expect(first.map(\.event) == ["snapshot"])
    #expect(try frames(service, "/events?lastEventId=") == first)
    #expect(try frames(service, "/events?lastEventId=", ["Last-Event-ID": ""]) == first)
    #expect(
      try frames(service, "/events?lastEventId=\(epoch)-4", ["Last-Event-ID": ""]).map(\.id) == ["\(epoch)-5"])
    let list = try service.ask("/events?lastEventId=", ["Accept": "application/json"])
    #expect(list.text == (try service.ask("/events", ["Accept": "application/json"]).text))
  }

  @Test func lastEventIDHeaderOverridesTheParameter() throws {
    let service = try serviceWithHistory()
    let epoch = try epoch(service)
    let frames = try frames(service, "/events?lastEventId=\(epoch)-1", ["Last-Event-ID": "\(epoch)-4"])
    #expect(frames.map(\.id) == ["\(epoch)-5"])
  }

  @Test(arguments: [
    "EPOCH-6", "EPOCH-99999999999999999999", "00000000-1", "EPOCH", "1", "x", "EPOCH--1", "EPOCH-+1",
  ])
  func unknownIDYieldsGapAndSnapshot(id: String) throws {
    let service = try serviceWithHistory()
    let known = id.replacing("EPOCH", with: try epoch(service))
    let response = try service.ask("/events", ["Last-Event-ID": known])
    let frames = Frame.parse(response.text)
    #expect(frames.map(\.event) == ["gap", "snapshot"])
    #expect(frames[0].id == nil)
    #expect(frames[0].data == "{\"from\":\"\(known)\",\"oldest\":\"\(try epoch(service))-1\"}")
    let array = try service.ask("/events", ["Accept": "application/json", "Last-Event-ID": known]).array()
    #expect(array.count == 6)
    #expect(array[0]["type"] as? String == "gap")
    #expect(array[0]["from"] as? String == known)
  }

  @Test func evictedIDYieldsGapWithOldestID() throws {
    let service = try ScriptedService(.wired, .init { $0.historyBytes = 16 * 1024 })
    let known = "\(try epoch(service))-1"
    for number in 0..<100 { service.kernel.change { $0.change("eth0") { $0.mtu = 1000 + UInt32(number) } } }
    let frames = try frames(service, "/events", ["Last-Event-ID": known])
    #expect(frames.map(\.event) == ["gap", "snapshot"])
    #expect(frames[0].data?.contains("\"oldest\":\"\(try epoch(service))-") == true)
    #expect(frames[1].id == "\(try epoch(service))-101")
  }

  @Test func lineBreaksInAnIDAreEscaped() throws {
    let text = try ScriptedService().ask("/events?lastEventId=a%0A%0Aevent:%20status%0D%0Adata:%20x").text
    #expect(Frame.parse(text).map(\.event) == ["gap", "snapshot"])
    #expect(!text.contains("\r"))
  }

  @Test(arguments: [
    ("status", ["status", "status"]), ("interface", ["interface", "interface"]), ("path", []),
    ("status,interface", ["interface", "status", "interface", "status"]), ("snapshot", []), ("bye,gap", []),
    ("snapshot,status", ["status", "status"]), ("status,status", ["status", "status"]),
  ])
  func typesFilterAllEventsExceptTheSnapshot(types: String, expected: [String]) throws {
    let service = try ScriptedService()
    let response = try service.ask("/events?types=\(types)")
    service.kernel.change { $0.dropCarrier("eth0") }
    service.kernel.advance(by: .seconds(1))
    service.kernel.change { $0.restoreCarrier("eth0") }
    #expect(Frame.parse(response.text).map(\.event) == ["snapshot"] + expected)
    let known = "\(try epoch(service))-1"
    let array = try service.ask("/events?types=\(types)&lastEventId=\(known)", ["Accept": "application/json"]).array()
    #expect(array.map { $0["type"] as? String } == expected)
  }

  @Test(arguments: ["", "x", "status,", ",", "Status", "status;path", "heartbeat"])
  func unknownTypesAreRejectedWithTheKnownList(types: String) throws {
    let problem = try ScriptedService().ask("/events?types=\(types)").object()
    #expect(problem["code"] as? String == "badRequest")
    #expect((problem["detail"] as? String)?.hasSuffix("expected one of status, path, interface, target, gate") == true)
  }

  @Test func misspelledTypeIsRejectedWithASuggestion() throws {
    let problem = try ScriptedService().ask("/events?types=intreface").object()
    #expect(
      problem["detail"] as? String == "unknown event type \"intreface\" (did you mean interface?); "
        + "expected one of status, path, interface, target, gate")
  }

  @Test func heartbeatsAdvanceTheIDOfAFilteredStream() throws {
    let service = try ScriptedService()
    func heartbeat(_ target: String) throws -> String {
      guard case .stream(let stream) = try service.ask(target).body else { return "no stream" }
      return String(decoding: stream.heartbeat.bytes(lastID: 7), as: UTF8.self)
    }
    #expect(try heartbeat("/events") == ":\n")
    #expect(try heartbeat("/events?types=path") == ":\nid: \(try epoch(service))-7\n\n")
  }

  @Test func arrayContainsRecentEventsInOrder() throws {
    let service = try serviceWithHistory()
    let array = try service.ask("/events", ["Accept": "application/json"]).array()
    #expect(array.map { $0["type"] as? String } == ["status", "interface", "status", "interface", "status"])
    #expect(array[0]["initial"] as? Bool == true)
    #expect(array[1]["cause"] as? [String] == ["carrierLost"])
    #expect(try ScriptedService(started: false).ask("/events", ["Accept": "application/json"]).array().isEmpty)
  }

  @Test func arrayAfterAnIDIsComplete() throws {
    let service = try ScriptedService()
    for number in 0..<2500 { service.kernel.change { $0.change("eth0") { $0.mtu = 1000 + UInt32(number) } } }
    var known = "\(try epoch(service))-0"
    var seen: [String] = []
    for _ in 0..<4 {
      let page = try service.ask("/events?lastEventId=\(known)", ["Accept": "application/json"]).array()
      #expect(page.count <= EventRoutes.arrayLimit)
      seen += page.compactMap { $0["id"] as? String }
      known = seen.last ?? known
    }
    #expect(seen == (1...2501).map { "\(known.prefix(8))-\($0)" })
    let latest = try service.ask("/events", ["Accept": "application/json"]).array()
    #expect(latest.count == EventRoutes.arrayLimit)
    #expect(latest.last?["id"] as? String == known)
  }

  @Test func targetFilterExcludesOtherTargets() throws {
    let service = try ScriptedService()
    func frames(_ query: String) throws -> HTTPResponse { try service.ask("/events?" + query) }
    let (both, one) = (try frames("target=db&target=web&target=db"), try frames("target=web"))
    let (all, none) = (try frames("types=target"), try frames("types=status&target=db"))
    for id in ["db", "mail", "web"] {
      _ = try service.send("PUT", "/targets/\(id)", #"{"target": "tcp://10.0.0.9:1", "paused": true}"#)
    }
    _ = try service.send("DELETE", "/targets/db")
    service.kernel.change { $0.dropCarrier("eth0") }
    func ids(_ text: String) -> [String] {
      text.matches(of: /"target":{"id":"([a-z]+)"/).map { String($0.output.1) }
    }
    #expect(ids(both.text) == ["db", "web", "db"])
    #expect(ids(one.text) == ["web"])
    #expect(Frame.parse(one.text).map(\.event) == ["snapshot", "target", "interface"], "of the machine all comes")
    #expect(ids(all.text) == ["db", "mail", "web", "db"])
    #expect(ids(none.text).isEmpty)
    let past = try service.ask("/events?target=db&types=target", ["Accept": "application/json"])
    #expect(ids(past.text) == ["db", "db"], "also of what is registered no more")
    let resumed = try service.ask("/events?target=db&lastEventId=\(try epoch(service))-2")
    #expect(ids(resumed.text) == ["db"])
  }

  @Test func arrayCarriesTheIDToContinueFrom() throws {
    let service = try serviceWithHistory()
    let epoch = try epoch(service)
    func end(_ query: String) throws -> String? {
      try service.ask("/events?" + query, ["Accept": "application/json"]).headers["Last-Event-ID"]
    }
    #expect(try end("") == "\(epoch)-5")
    #expect(try end("types=target") == "\(epoch)-5", "also where nothing is wanted")
    #expect(try end("types=target&lastEventId=\(epoch)-2") == "\(epoch)-5")
    #expect(try end("lastEventId=other-9") == "\(epoch)-5")
    for number in 0..<1500 { service.kernel.change { $0.change("eth0") { $0.mtu = 2000 + UInt32(number) } } }
    #expect(try end("lastEventId=\(epoch)-3") == "\(epoch)-1003", "there is more")
    #expect(try end("types=interface") == "\(epoch)-1505")
  }

  @Test func heartbeatsAdvanceTheIDOfATargetStream() throws {
    guard case .stream(let stream) = try ScriptedService().ask("/events?target=db").body else {
      Issue.record("no stream")
      return
    }
    #expect(String(decoding: stream.heartbeat.bytes(lastID: 7), as: UTF8.self).hasSuffix("-7\n\n"))
  }

  @Test(arguments: ["", "a b", "Ü", "..", String(repeating: "a", count: 69)])
  func invalidTargetIDIsRejected(id: String) throws {
    let problem = try ScriptedService().ask("/events?target=\(id.replacing(" ", with: "%20"))")
    #expect(problem.status == 400)
  }

  @Test func targetsPerStreamAreLimited() throws {
    let service = try ScriptedService()
    func query(_ count: Int) -> String { (1...count).map { "target=t\($0)" }.joined(separator: "&") }
    #expect(try service.ask("/events?" + query(64)).status == 200)
    let problem = try service.ask("/events?" + query(65))
    #expect(problem.status == 400 && problem.text.contains("64 targets"))
  }

  @Test func closeEventContainsARetryInterval() {
    let text = String(decoding: StatusService.closeEvent, as: UTF8.self)
    #expect(text == "retry: 3000\nevent: bye\ndata: {}\n\n")
  }
}
