import Database
import HostProcess
import Logging
import TestSupport
import Testing

@testable import History

@Suite("The start of a store")
struct StoreStartTests {
  private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

  @Test("Each start that ends removes one more possible cause")
  func plan() {
    let plans: [StoreStartPlan] = [
      .open, .open, .replace(isSalvaging: true), .replace(isSalvaging: true), .replace(isSalvaging: false),
      .withoutDatabase, .withoutDatabase,
    ]
    for (number, plan) in plans.enumerated() { #expect(StoreStartPlan(unfinished: number) == plan, "\(number)") }
    #expect(StoreStartPlan(unfinished: .max) == .withoutDatabase)
    #expect(StoreStartPlan(unfinished: .min) == .open)
  }

  @Test("The plans of starts that end, one after the other")
  func sequence() throws {
    let data = try TemporaryDirectory()
    let directory = try #require(try DataDirectory(locking: data.path))
    var plans: [StoreStartPlan] = []
    for _ in 0..<7 {
      let start = StoreStart(reportingTo: ServiceManager(environment: [:]))
      let plan = start.begin(in: directory, logger)
      plans.append(plan)
      if plan == .replace(isSalvaging: true) { start.noteSalvage(logger) }
    }
    #expect(
      plans == [
        .open, .open, .replace(isSalvaging: true), .replace(isSalvaging: false), .withoutDatabase, .withoutDatabase,
        .withoutDatabase,
      ])
    let last = StoreStart(reportingTo: ServiceManager(environment: [:]))
    #expect(last.begin(in: directory, logger) == .withoutDatabase && last.isInProgress)
    last.end(logger)
    #expect(!last.isInProgress && data.names == ["lock"])
  }

  @Test(
    "SIGTERM ends the process before a run has begun, and removes the marker in any case", arguments: [false, true])
  func abandon(_ hasBegun: Bool) throws {
    let data = try TemporaryDirectory()
    let directory = try #require(try DataDirectory(locking: data.path))
    let start = StoreStart(reportingTo: ServiceManager(environment: [:]))
    #expect(!start.abandon())
    _ = start.begin(in: directory, logger)
    if hasBegun { start.beginRestoring() }
    #expect(data.names == ["lock", "starting"])
    #expect(start.abandon() == !hasBegun)
    #expect(data.names == ["lock"] && !start.abandon())
    start.end(logger)
  }

  @Test("Notices outlive the process, quote no control characters, and end with their file")
  func notices() throws {
    let data = try TemporaryDirectory()
    let notices = StoreNotices(data.path)
    notices.add("first \u{1B}[2J\nsecond", logger)
    notices.add(String(repeating: "x", count: 10_000), logger)
    #expect(notices.lines.count == 2 && notices.lines.allSatisfy { $0.count <= 600 })
    #expect(StoreNotices(data.path).lines == notices.lines)
    notices.refresh(logger)
    #expect(notices.lines.count == 2)
    #expect(try StoreNotices.acknowledge(in: data.path) == notices.lines)
    notices.refresh(logger)
    #expect(notices.lines.isEmpty && data.names.isEmpty)
    #expect(try StoreNotices.acknowledge(in: data.path) == [])
  }

  @Test("Only the end of a long file of notices is read")
  func manyNotices() throws {
    let data = try TemporaryDirectory()
    _ = try data.write((0..<100_000).map { "notice \($0)\n" }.joined(), as: "set-aside")
    let lines = StoreNotices(data.path).lines
    #expect(lines.last == "notice 99999" && lines.count < 2_000)
  }
}
