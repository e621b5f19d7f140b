import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityModel
import TestSupport
import Testing

@testable import ReachabilityChecks

/// States of an earlier process that depend on other targets.
@Suite("Restored outages")
struct RestoredOutageTests {
  let bench: Bench
  let prober = ScriptedProber { _ in nil }
  let schedule: CheckSchedule

  init() throws {
    bench = try Bench.started()
    schedule = CheckSchedule(monitor: bench.monitor, checker: Checker(monitor: bench.monitor, prober: prober))
    prober.follow(nil)
  }

  private func definition(_ id: String, _ dependsOn: [TargetDependency] = []) throws -> TargetDefinition {
    TargetDefinition(id: id, target: try CheckTarget("tcp://10.0.0.9:1"), dependsOn: dependsOn)
  }

  private func restored(
    _ definition: TargetDefinition, _ state: TargetState, _ reason: Reason?, _ dependency: String? = nil,
    _ origin: TargetOrigin = .configuration
  ) -> RestoredTarget {
    RestoredTarget(
      definition: definition, origin: origin, revision: 1, changes: 0,
      status: TargetStatus.Restorable(
        state: state, reason: reason, since: Timestamp(microseconds: 7), consecutiveFailures: 3, flapBits: 0,
        wasUp: false,
        isFlapping: false, dependency: dependency))
  }

  @Test(
    "A restored outage stands only if an entry is still broken",
    arguments: [
      (TargetState.down, "router", true), (.unreachable, "router", true), (.up, "router", false),
      (.unknown, "router", false),
      (.down, "other", false),
    ])
  func stands(parent: TargetState, dependsOn: String, stands: Bool) throws {
    let targets = [try definition("a", [.init("router")]), try definition("router"), try definition("other")]
    schedule.restore(
      [
        restored(targets[0], .unreachable, .dependencyDown, "gone"),
        restored(targets[1], parent, parent == .up ? nil : .connectTimeout), restored(targets[2], .up, nil),
      ], firstRevision: 10)
    let (recorder, subscription) = try bench.record([.target])
    var changed = targets
    changed[0].dependsOn = [TargetDependency(dependsOn)]
    try schedule.configure(changed)
    let status = try #require(schedule.report(of: "a")?.status)
    #expect(status.state == (stands ? .unreachable : .unknown))
    #expect(status.dependency == (stands ? "router" : nil), "the root of the present configuration")
    // It differs from what was stored, so that there is an event of it.
    #expect(eventually { recorder.updates.compactMap(\.registeredTarget?.definition.id).contains("a") })
    subscription.cancel()
  }

  @Test("A start does not fail because of clients' targets, whose invalid entries are removed")
  func invalid() throws {
    let own = try definition("own", [.init("gone"), .init(anyOf: ["gone", "router"])])
    schedule.restore([restored(own, .unreachable, .dependencyDown, "gone", .runtime)], firstRevision: 10)
    let found = try schedule.configure([try definition("router")])
    #expect(found.removedDependencies == ["own": ["gone"]])
    #expect(schedule.report(of: "own")?.definition.dependsOn == [TargetDependency("router")])
    #expect(schedule.report(of: "own")?.status.state == .unknown)
  }
}
