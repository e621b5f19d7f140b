import JSONFormat
import ReachabilityModel
import TerminalUI
import Testing

@Suite struct TopServiceStateTests {
  private func state(_ targets: [(id: String, state: Int, age: Int64)]) -> TopServiceState {
    var state = TopServiceState()
    let isOverview = state.replaceTargets(Documents.overview(targets))
    #expect(isOverview)
    return state
  }

  @Test("The most urgent state is first, then the longest, then the id")
  func order() {
    let state = state([
      ("e", 0, 5), ("d", 4, 9), ("a", 1, 1), ("b", 1, 7), ("c", 2, 1), ("g", 3, 1), ("f", 0, 5),
    ])
    #expect(state.targets.map(\.id) == ["b", "a", "c", "g", "e", "f", "d"])
    #expect(state.counts == [.up: 2, .down: 2, .unreachable: 1, .unknown: 1, .paused: 1])
    #expect(state.targets[0].reason == "refused" && state.targets[0].labels == ["env=prod"])
    #expect(state.position(of: "g") == 3 && state.position(of: "z") == nil)
  }

  @Test func eventMovesOneTarget() {
    var state = state([("a", 0, 9), ("b", 0, 8), ("c", 0, 7)])
    state.apply(type: "target", Documents.event("c", from: "up", to: "down", reason: "refused"))
    #expect(state.targets.map(\.id) == ["c", "a", "b"])
    #expect(state.counts[.down] == 1 && state.counts[.up] == 2)
    #expect(state["c"]?.latency == 2_000)
    // Again: the overview may include an event.
    state.apply(type: "target", Documents.event("c", from: "up", to: "down", reason: "refused"))
    #expect(state.targets.map(\.id) == ["c", "a", "b"] && state.counts[.down] == 1)
    state.apply(type: "target", Documents.event("c", from: "down", to: "down", removed: true))
    #expect(state.targets.map(\.id) == ["a", "b"] && state.counts[.down] == 0)
    state.apply(type: "target", Documents.event("n", from: "unknown", to: "unknown"))
    #expect(state.targets.map(\.id) == ["n", "a", "b"])
    #expect(state.events.count == 4 && state.events[0].subject == "n")
  }

  @Test("The order after many random events is that of sorting")
  func orderIsMaintained() {
    let names = ["up", "down", "unreachable", "unknown", "paused"]
    var state = state((0..<200).map { ("t\($0)", $0 % 5, Int64($0 * 31 % 97)) })
    for step in 0..<2_000 {
      let id = "t\(step * 7919 % 260)"
      state.apply(
        type: "target", Documents.event(id, from: "up", to: names[step * 104_729 % 5], removed: step % 11 == 0))
    }
    var sorted = TopServiceState()
    let list = state.targets
    _ = sorted.replaceTargets(
      Documents.overview(
        list.shuffled().map { ($0.id, names.firstIndex(of: $0.state.rawValue) ?? 0, Documents.time - $0.since) }))
    #expect(sorted.targets.map(\.id) == list.map(\.id))
    #expect(sorted.counts.filter { $0.value > 0 } == state.counts.filter { $0.value > 0 })
    #expect(list.allSatisfy { state.position(of: $0.id).map { state.targets(in: $0..<$0 + 1).first?.id } == $0.id })
  }

  @Test(arguments: [
    "{}", #"{"id":["a"]}"#,
    #"{"id":["a"],"target":[],"state":[],"reason":[],"label":[],"since":[],"flags":[],"latency":[]}"#,
    #"{"states":["up"],"id":["a"],"target":["x"],"state":[7],"reason":[0],"label":[0],"since":[0],"flags":[0],"latency":[0]}"#,
  ])
  func otherDocumentsAreRefused(text: String) {
    var state = state([("a", 0, 1)])
    let isOverview = state.replaceTargets(Documents.json(text))
    #expect(!isOverview)
    #expect(state.targetCount == 1)
  }

  @Test func machineFollowsSnapshotAndEvents() {
    var state = TopServiceState()
    state.apply(type: "snapshot", Documents.status())
    #expect(state.machine?.ipv4.detail == "eth0 via 192.0.2.1")
    #expect(state.machine?.ipv6.detail == "noRoute")
    #expect(state.events.isEmpty, "a snapshot is no change")
    let lost = Documents.json(
      """
      {"time":"2026-01-01T00:00:00.000000Z","from":{"status":"reachable"},"to":{"status":"notReachable"},
       "cause":["linkDown"],"status":{"status":"notReachable","reason":"linkDown","connectionType":null,"since":null,
       "ipv4":{"status":"notReachable"},"ipv6":{"status":"notReachable"}}}
      """)
    state.apply(type: "status", lost)
    #expect(state.machine?.status == "notReachable")
    #expect(state.events.first?.from == "reachable" && state.events.first?.to == "notReachable")
    #expect(state.events.first?.reason == "linkDown, linkDown")
  }

  @Test(
    "An interface that is enabled and has no carrier is not up",
    arguments: [
      ("down", "is down"), ("lowerLayerDown", "is down"), ("up", "is up"), ("unknown", "is up"),
    ])
  func interfaces(operationalState: String, text: String) {
    var state = TopServiceState()
    state.apply(
      type: "interface",
      Documents.json(
        """
        {"time":"2026-01-01T00:00:00.000000Z","cause":["carrierLost"],"removed":false,
         "interface":{"name":"eth0","isUp":true,"operationalState":"\(operationalState)"}}
        """))
    #expect(state.events.first?.to == text)
  }

  @Test func pastEventsAreMergedByTimeAndID() {
    func event(_ number: Int) -> String {
      """
      {"id":"a-\(number)","type":"interface","time":"2026-01-01T00:00:0\(number).000000Z","cause":[],"removed":false,
       "interface":{"name":"eth\(number)","isUp":true,"operationalState":"up"}}
      """
    }
    var state = TopServiceState()
    state.apply(type: "interface", Documents.json(event(3)))
    state.addPast(Documents.json("[\(event(1)),\(event(2)),\(event(3)),{\"type\":\"gap\"}]"))
    #expect(state.events.map(\.subject) == ["eth3", "eth2", "eth1"])
    state.addPast(Documents.json("{}"))
    #expect(state.events.count == 3)
  }
}
