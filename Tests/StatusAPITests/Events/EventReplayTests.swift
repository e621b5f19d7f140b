import Events
import Database
import DequeModule
import EventLoop
import History
import Locks
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import EmbeddedHTTPServer
@testable import HTTPRouting
@testable import StatusAPI

/// Streams that resume before the oldest event in memory, and streams of a service that was restarted.
@Suite struct EventReplayTests {
  /// A log in memory that holds some ten events.
  private let small = StatusServiceConfiguration { $0.historyBytes = 16 * 1024 }

  /// Starts the monitor and waits for the first event.
  private func start(_ fixture: HistoryFixture) throws {
    try fixture.service.monitor.start()
    try #require(eventually { isPublished(1, fixture) })
  }

  /// Whether clients see an event; it is committed a moment before.
  private func isPublished(_ number: UInt64, _ fixture: HistoryFixture) -> Bool {
    let id = "\(fixture.store.recovered.epoch)-\(number)"
    return (try? fixture.service.ask("/status").text.contains("\"id\":\"\(id)\"")) ?? false
  }

  /// Changes an interface, which is an event of some hundred bytes each.
  private func change(_ fixture: HistoryFixture, _ mtus: ClosedRange<UInt32>) throws {
    let before = fixture.store.visibleEnd
    for mtu in mtus { fixture.service.kernel.change { $0.change("eth0") { $0.mtu = mtu } } }
    try #require(eventually { isPublished(before + UInt64(mtus.count), fixture) })
  }

  private func frames(_ fixture: HistoryFixture, after id: String, _ query: String = "") throws -> [Frame] {
    Frame.parse(try fixture.service.ask("/events\(query)", ["Last-Event-ID": id]).text)
  }

  /// Deletes stored events as retention does.
  private func delete(_ fixture: HistoryFixture, before number: Int64) throws {
    let isDeleted = Locked(false)
    fixture.store.write { (connection) throws(DatabaseError) in
      try connection.run("DELETE FROM event WHERE seq < ?", .integer(number))
    } completion: { _ in
      isDeleted.withLock { $0 = true }
    }
    try #require(eventually { isDeleted.withLock(\.self) })
  }

  @Test("Events that only the store has are sent in pieces, each once")
  func pieces() throws {
    let fixture = try HistoryFixture(small)
    try start(fixture)
    try change(fixture, 1001...2400)
    let epoch = fixture.store.recovered.epoch
    let frames = try frames(fixture, after: "\(epoch)-1")
    #expect(frames.map(\.id) == (2...1401).map { "\(epoch)-\($0)" })
    let bytes = frames.reduce(0) { $0 + ($1.data?.utf8.count ?? 0) }
    #expect(bytes > 256 * 1024, "more than one piece: \(bytes)")
    #expect(try self.frames(fixture, after: "\(epoch)-1", "?types=status") == [])
    fixture.close()
  }

  @Test("A client whose events were deleted gets a gap and the present state")
  func deleted() throws {
    let fixture = try HistoryFixture(small)
    try start(fixture)
    try change(fixture, 1001...1100)
    try delete(fixture, before: 50)
    let epoch = fixture.store.recovered.epoch
    let frames = try frames(fixture, after: "\(epoch)-10")
    #expect(frames.map(\.event) == ["gap", "snapshot"])
    #expect(frames.first?.data?.contains("\"from\":\"\(epoch)-10\"") == true)
    #expect(try self.frames(fixture, after: "\(epoch)-60").first?.id == "\(epoch)-61")
    fixture.close()
  }

  private func array(
    _ fixture: HistoryFixture, after id: String, _ query: String = "types=status,path,interface"
  ) throws -> (events: [[String: Any]], last: String?) {
    let response = try fixture.service.ask(
      "/events?\(query)", ["Accept": "application/json", "Last-Event-ID": id])
    return (try response.array(), response.headers["Last-Event-ID"])
  }

  @Test("The array has events that only the store has, and continues with those in memory")
  func arrayFromTheStore() throws {
    let fixture = try HistoryFixture(small)
    defer { fixture.close() }
    try start(fixture)
    try change(fixture, 1001...2400)
    let epoch = fixture.store.recovered.epoch
    var ids: [String] = []
    var known = "\(epoch)-1"
    for _ in 0..<3 {
      let (events, last) = try array(fixture, after: known)
      #expect(events.count <= EventRoutes.arrayLimit)
      ids += events.compactMap { $0["id"] as? String }
      known = try #require(last)
    }
    #expect(ids == (2...1401).map { "\(epoch)-\($0)" }, "each once, without a gap")
    #expect(known == "\(epoch)-1401")
    let (none, end) = try array(fixture, after: "\(epoch)-1", "types=path")
    #expect(none.isEmpty)
    #expect(end == "\(epoch)-1401", "the id to continue from is after what was not selected")
    let since = try fixture.service.ask("/events?since=2000-01-01T00:00:00Z", ["Accept": "application/json"])
    #expect(try since.array().first?["id"] as? String == "\(epoch)-1")
    #expect(since.headers["Last-Event-ID"] == "\(epoch)-\(EventRoutes.arrayLimit)")
  }

  @Test("After a restart the array has the events of the runs before it")
  func arrayAfterARestart() throws {
    let first = try HistoryFixture(small)
    try start(first)
    try change(first, 1001...1100)
    first.close()
    let second = try HistoryFixture(small, after: first)
    defer { second.close() }
    let epoch = second.store.recovered.epoch
    let (events, last) = try array(second, after: "\(epoch)-1")
    #expect(events.compactMap { $0["id"] as? String } == (2...101).map { "\(epoch)-\($0)" })
    #expect(last == "\(epoch)-101")
  }

  @Test("The array has a gap for events that are not stored, and only then")
  func arrayWithGap() throws {
    let fixture = try HistoryFixture(small)
    defer { fixture.close() }
    try start(fixture)
    try change(fixture, 1001...1100)
    try delete(fixture, before: 50)
    let epoch = fixture.store.recovered.epoch
    let (events, last) = try array(fixture, after: "\(epoch)-10")
    #expect(events.first?["type"] as? String == "gap")
    #expect(events.first?["from"] as? String == "\(epoch)-10")
    #expect(events.dropFirst().first?["id"] as? String == events.first?["oldest"] as? String)
    #expect(last == "\(epoch)-101")
    let kept = try array(fixture, after: "\(epoch)-49").events
    #expect(kept.compactMap { $0["id"] as? String } == (50...101).map { "\(epoch)-\($0)" })
  }

  @Test("More replays than the limit wait for the others, and none is lost")
  func many() throws {
    let fixture = try HistoryFixture(small)
    try start(fixture)
    try change(fixture, 1001...1100)
    let id = "\(fixture.store.recovered.epoch)-1"
    // Streams that are open and not read, such as those of disconnected clients, hold no place.
    var unread: [HTTPResponse] = []
    for _ in 0..<20 { unread.append(try fixture.service.ask("/events", ["Last-Event-ID": id])) }
    for response in unread { #expect(Frame.parse(response.text).count == 100) }
    fixture.close()
  }

  @Test("Arrays whose clients have disconnected do not wait for the others")
  func abandonedArrays() throws {
    let fixture = try HistoryFixture(small)
    defer { fixture.close() }
    try start(fixture)
    try change(fixture, 1001...1400)
    let feed = fixture.service.service.events.history
    let known = "\(fixture.store.recovered.epoch)-1"
    for _ in 0..<EventReplayLimiter.limit { _ = feed.replays.admit("other") { true } }
    let inboxes = try (0..<20).map { _ in
      let request = HTTPRequest(
        target: "/events",
        headers: ["Host": "127.0.0.1:8080", "Accept": "application/json", "Last-Event-ID": known])
      let inbox = try HTTPServerInbox()
      guard case .later(let start) = fixture.service.router.handle(request) else { throw TestError("no promise") }
      start(HTTPPromise(inbox: inbox, connection: 1, request: 1))
      return inbox
    }
    #expect(eventually { feed.replays.waiting == 20 })
    for inbox in inboxes {
      for case .onAbandonment(_, _, let body) in inbox.take().messages { body() }
    }
    #expect(eventually { feed.replays.waiting == 0 })
  }

  @Test("After a restart a stream begins with the first reading, not with an unknown state")
  func firstReading() throws {
    let first = try HistoryFixture()
    try start(first)
    let expected = try #require(try Frame.parse(first.service.ask("/events").text).first)
    let stored = Locked(false)
    first.store.afterCommit { _ in stored.withLock { $0 = true } }
    try #require(eventually { stored.withLock(\.self) })
    first.close()

    let second = try HistoryFixture(after: first)
    let request = HTTPRequest(
      method: "GET", target: "/events", headers: ["Host": "127.0.0.1:8080"], body: [], peer: "127.0.0.1:50000",
      isLoopbackListener: true)
    guard case .wait(let wait) = second.service.router.handle(request) else {
      Issue.record("it did not wait")
      return
    }
    #expect(wait.limit == .seconds(2))
    #expect(Frame.parse(wait.expired().text).first?.data?.contains("\"starting\"") == true, "without a reading")
    let inbox = try HTTPServerInbox()
    let end = wait.begin(HTTPPromise(inbox: inbox, connection: 1, request: 1))
    #expect(inbox.take().messages.isEmpty)
    try second.service.monitor.start()
    var answer: HTTPResponse?
    #expect(
      eventually {
        for case .reply(_, _, let response) in inbox.take().messages { answer = response }
        return answer != nil
      })
    end()
    let frames = Frame.parse(try #require(answer).text)
    #expect(frames == [expected])
    second.close()
  }
}
