import Locks
import Logging
import ReachabilityFleet
import Testing

@testable import FleetAPI

@Suite("FleetEventLog")
struct FleetEventLogTests {
  private final class Collected: Sendable {
    let lines = Locked<[String]>([])

    var all: [String] { lines.withLock { $0 } }
  }

  /// The messages of a logger, with their levels.
  private struct Lines: LogHandler {
    let collected: Collected
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(_ collected: Collected) { self.collected = collected }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      collected.lines.withLock { $0.append((["\(event.level)", "\(event.message)"] + facts).joined(separator: " ")) }
    }
  }

  private let lines = Collected()
  private let log: FleetEventLog
  private var fold = FleetFold(created: 1)

  init() {
    let lines = lines
    log = FleetEventLog(Logger(label: "test") { _ in Lines(lines) })
  }

  private mutating func event(_ content: FleetEvent.Content) -> FleetEvent {
    FleetEvent(id: FleetEventID(epoch: 1, number: 1, check: 1), time: 1, content: content)
  }

  private func verdict(_ target: String) -> FleetEvent.Content {
    .verdict(
      VerdictMessage(
        target: target, stream: 1, from: .up, to: .down, votes: FleetVoteCounts(), downFrom: ["a", "b"], basis: 1,
        attempt: 0, prev: 0, by: "r"))
  }

  @Test("Verdicts, ends of members and missing events have a line each")
  mutating func events() {
    let hello = NodeHello(role: .agent, zone: "z", version: "1")
    _ = fold.apply(.node(NodeMessage(id: "a", .hello(hello, restates: false))), sequence: 1, time: 1)
    let replica = NodeHello(role: .replica, version: "1")
    let events = [
      verdict("db"), .node("a", .lost, nil), .node("a", .present, hello), .node("r2", .present, replica),
      .node("a", .left, nil), .gap(agent: "a", after: 3, before: 7),
    ]
    log.log(events.map { event($0) }, fold, at: .seconds(1))
    #expect(
      lines.all == [
        "info verdict changed by=r downFrom=a,b old=up target=db verdict=down", "warning agent lost agent=a zone=z",
        "info agent present agent=a zone=z", "info replica present replica=r2 zone=", "info agent left agent=a zone=z",
        "warning events of an agent are missing after=3 agent=a before=7",
      ])
  }

  @Test("Beyond its limit, changes are counted")
  mutating func limit() {
    let many = (0..<1000).map { event(verdict("t\($0)")) }
    log.log(many, fold, at: .seconds(20))
    #expect(lines.all.count == FleetEventLog.lines)
    log.logOmitted(at: .seconds(25))
    #expect(lines.all.count == FleetEventLog.lines)
    log.logOmitted(at: .seconds(30))
    #expect(lines.all.last == "notice further changes of the fleet count=900")
    log.log(many, fold, at: .seconds(31))
    #expect(lines.all.count == 2 * FleetEventLog.lines + 1)
  }

  @Test("One agent or target, and one kind of event, does not hide the lines of others")
  mutating func shares() {
    let gaps = (0..<200).map { event(.gap(agent: "evil", after: UInt64($0), before: UInt64($0) + 2)) }
    let starts = (0..<200).map { event(.node("evil", $0.isMultiple(of: 2) ? .left : .present, nil)) }
    let flaps = (0..<200).map { _ in event(verdict("evil")) }
    log.log(gaps + starts + flaps, fold, at: .seconds(20))
    #expect(lines.all.count == 3 * FleetEventLog.share)
    log.log((0..<200).map { event(verdict("t\($0)")) }, fold, at: .seconds(21))
    log.log([event(.gap(agent: "a", after: 1, before: 3)), event(.node("a", .lost, nil))], fold, at: .seconds(22))
    #expect(
      lines.all.suffix(2) == [
        "warning events of an agent are missing after=1 agent=a before=3", "warning agent lost agent=a zone=",
      ])
    log.logOmitted(at: .seconds(30))
    #expect(lines.all.last == "notice further changes of the fleet count=\(800 - 8 - FleetEventLog.lines)")
  }
}
