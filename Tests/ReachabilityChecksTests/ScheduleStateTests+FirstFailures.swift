import Locks
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityModel
import TestSupport
import Testing

@testable import ReachabilityChecks

/// What other agents of a fleet learn before a target is `down`.
extension ScheduleStateTests {
  /// Whether the next result of the only target is its first failure.
  private mutating func isFirstFailure(_ found: CheckResult.State) throws -> Bool {
    let launch = try #require(nextLaunches().first)
    let result = result(found, found == .up ? nil : .refused)
    return launch.isFirstFailure(state.finish(launch.run, result, at: now), result)
  }

  @Test("Only the first failure of a target that was up is one, not that of an agent without a path")
  mutating func firstFailures() throws {
    _ = state.put(try definition("db") { ($0.fall, $0.rise) = (2, 2) }, .fleet, at: now)
    let results: [CheckResult.State] = [
      .down, .up, .up, .down, .down, .up, .down, .up, .up, .unreachable, .down, .up, .down,
    ]
    let found = try results.map { try isFirstFailure($0) }
    #expect(results.indices.filter { found[$0] } == [3, 12])
  }

  @Test("With fall 1 the first failure is the change, and other targets than the fleet's have none")
  mutating func firstFailuresOfOthers() throws {
    for (origin, expected) in [(TargetOrigin.fleet, true), (.runtime, false), (.configuration, false)] {
      _ = state.remove("db", at: now)
      _ = state.put(try definition("db") { $0.fall = 1 }, origin, at: now)
      #expect(try !isFirstFailure(.up))
      #expect(try isFirstFailure(.down) == expected)
    }
  }
}

extension CheckScheduleTests {
  @Test("The observer of first failures gets each target of the fleet once")
  func firstFailures() async throws {
    let failed = Locked<[String]>([])
    schedule.observeFirstFailures { id in failed.withLock { $0.append(id) } }
    for (id, origin) in [("db", TargetOrigin.fleet), ("own", .runtime)] {
      var definition = try definition(id)
      // Longer than the test: every check below is requested.
      definition.interval = .seconds(86_400)
      definition.fastInterval = .seconds(3_600)
      schedule.put(definition, origin: origin)
      try await state(of: id, becomes: .up)
    }
    prober.follow { _ in Self.result(.down, .refused) }
    for _ in 0..<3 {
      for id in ["db", "own"] {
        await withCheckedContinuation { continuation in
          if !schedule.check(id, { _ in continuation.resume() }) { continuation.resume() }
        }
      }
    }
    for id in ["db", "own"] { try await state(of: id, becomes: .down) }
    #expect(await eventually { () async in failed.withLock(\.self) == ["db"] })
  }
}
