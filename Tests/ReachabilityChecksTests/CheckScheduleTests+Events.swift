import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityChecks

/// Whether the events of targets are complete.
extension CheckScheduleTests {
  @Test("A snapshot and the following events give every later state")
  func fold() async throws {
    try schedule.configure([try definition("file"), try definition("other")])
    let (recorder, subscription) = try bench.record([.target])
    var folded = Dictionary(uniqueKeysWithValues: schedule.reports().map { ($0.definition.id, $0) })
    for id in ["file", "other"] { try await state(of: id, becomes: .up) }
    var paused = try definition("paused")
    paused.isPaused = true
    schedule.put(paused)
    schedule.put(try definition("db"))
    try await state(of: "db", becomes: .up)
    var labelled = try definition("db")
    labelled.labels = ["env": "prod"]
    schedule.put(labelled)
    schedule.put(try definition("gone"))
    try schedule.remove("gone")
    try schedule.configure([try definition("file"), try definition("new")])
    try await state(of: "new", becomes: .up)
    // The event follows the state change.
    func isReported() -> Bool {
      recorder.updates.compactMap(\.registeredTarget).contains { $0.definition.id == "new" && $0.status.state == .up }
    }
    #expect(await eventually(within: patience) { () async in isReported() })
    for transition in recorder.updates.compactMap(\.transition) {
      guard case .target(let from, let report, let isRemoved) = transition.change else { continue }
      #expect(!isRemoved || from == report.status.state && transition.causes == [.configuration])
      folded[report.definition.id] = isRemoved ? nil : report
    }
    let states = schedule.reports().map { "\($0.definition.id) \($0.status.state) \($0.definition.labels)" }
    #expect(folded.values.map { "\($0.definition.id) \($0.status.state) \($0.definition.labels)" }.sorted() == states)
    subscription.cancel()
  }

  @Test("The first configuration emits no events, later ones do")
  func firstConfiguration() throws {
    let (recorder, subscription) = try bench.record([.target])
    prober.follow(nil)
    try schedule.configure([try definition("a"), try definition("b")])
    #expect(recorder.updates.compactMap(\.registeredTarget).isEmpty)
    schedule.put(try definition("own"))
    let found = try schedule.configure(try ["a", "b", "c", "own"].map { try definition($0) })
    #expect(found == TargetConfigurationResult(takenOver: ["own"]))
    #expect(recorder.updates.compactMap(\.registeredTarget?.definition.id) == ["own", "c", "own"])
    subscription.cancel()
  }
}
