import Locks
import NetworkReachability
import Testing

@testable import ReachabilityChecks

@Suite("Who waits for which check, and what is remembered")
struct CheckBoardTests {
  @Test("What nobody waits for any more is not remembered in place of what is younger")
  func outdated() throws {
    let board = CheckBoard()
    let request = ProbeRequest(try ProbeTarget("tcp://10.0.0.9:1"))
    let states = Locked<[ProbeResult.State]>([])
    let note: @Sendable (CheckOutcome) -> Void = { outcome in states.withLock { $0.append(outcome.result.state) } }
    func begin() throws -> (CheckRun, any ProbeCancellation) {
      guard case .first(let run, let place) = board.join(request, .zero, note) else { throw TestFailure() }
      return (run, place)
    }
    func outcome(_ state: ProbeResult.State) -> CheckOutcome {
      CheckOutcome(request: request, result: ProbeResult(state, startedAt: .now, duration: .zero))
    }
    let (early, place) = try begin()
    let before = ContinuousClock.now
    board.close(early)
    // It has an answer, and only its way is looked at: who asks now begins anew.
    let (late, _) = try begin()
    board.finish(late, outcome(.up), answeredAt: .now)
    board.finish(early, outcome(.down), answeredAt: before)
    #expect(states.withLock(\.self) == [.up, .down], "each is told its own")
    guard case .known(let known) = board.join(request, .seconds(60), note) else { throw TestFailure() }
    #expect(known.result.state == .up, "the younger one is known")
    place.cancel()
    let (left, leaving) = try begin()
    leaving.cancel()
    board.finish(left, outcome(.down), answeredAt: .now)
    guard case .known(let still) = board.join(request, .seconds(60), note) else { throw TestFailure() }
    #expect(still.result.state == .up)
  }

  private struct TestFailure: Error {}
}
