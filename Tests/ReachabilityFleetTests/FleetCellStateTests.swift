import ReachabilityModel
import Testing

@testable import ReachabilityFleet

@Suite("FleetCellState")
struct FleetCellStateTests {
  @Test("A silent agent has no vote, and its paused targets stay paused")
  func silence() {
    for state in TargetState.allCases {
      let silenced = FleetCellState(state, since: Timestamp(microseconds: 7)).silenced()
      #expect(silenced.state == (state == .paused ? .paused : .unknown))
      #expect(silenced.since == Timestamp(microseconds: 7))
    }
  }
}
