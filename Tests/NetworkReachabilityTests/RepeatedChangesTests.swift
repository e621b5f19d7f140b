import ReachabilityModel
import Testing

@testable import NetworkReachability

@Suite("Repeated changes have two lines in the log")
struct RepeatedChangesTests {
  private let start = ContinuousClock.now
  private let target = RepeatedChanges.Subject.target("db")

  private func change(_ state: CheckResult.State) throws -> Transition.Change {
    let definition = TargetDefinition(id: "db", target: try CheckTarget("tcp://10.0.0.9:1"), fall: 1)
    let time = Timestamp(microseconds: 0)
    var status = TargetStatus(at: time)
    status.take(CheckResult(state, startedAt: time, duration: .zero), definition, at: time)
    let report = TargetReport(definition: definition, origin: .runtime, revision: 1, status: status)
    return .target(from: .unknown, to: report, removed: false)
  }

  @Test("The fifth change within a minute begins a period, which ends after a quiet minute with a count")
  func period() throws {
    var repeated = RepeatedChanges()
    let change = try change(.up)
    let decisions = (0..<1_000).map { repeated.record(target, change, at: start + .milliseconds(100) * $0) }
    #expect(decisions.prefix(4).allSatisfy { $0 == .log } && decisions[4] == .begin)
    #expect(decisions.dropFirst(5).allSatisfy { $0 == .count })
    #expect(repeated.takeEnded(at: start + .seconds(159)).isEmpty && !repeated.isEmpty)
    let ended = repeated.takeEnded(at: start + .seconds(160))
    #expect(ended == [.init(subject: target, changes: 1_000, duration: .milliseconds(99_900), state: "up")])
    #expect(repeated.isEmpty && repeated.record(target, change, at: start + .seconds(161)) == .log)
  }

  @Test("Rare changes have lines of their own")
  func rare() throws {
    var repeated = RepeatedChanges()
    let change = try change(.up)
    #expect((0..<50).allSatisfy { repeated.record(target, change, at: start + .seconds(20) * $0) == .log })
    #expect(repeated.isEmpty)
  }

  @Test("Subjects without a recent change are not kept")
  func sweep() throws {
    var repeated = RepeatedChanges()
    let change = try change(.up)
    for number in 0..<100_000 {
      _ = repeated.record(.interface("veth\(number)"), change, at: start + .seconds(1) * number)
    }
    #expect(repeated.count <= RepeatedChanges.sweepThreshold + 1)
  }
}
