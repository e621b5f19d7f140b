import Locks
import NetworkReachability
import Testing

@testable import ReachabilityChecks

@Suite("CheckCoalescer")
struct CheckCoalescerTests {
  @Test("An abandoned check does not replace a newer cached outcome")
  func outdated() throws {
    let coalescer = CheckCoalescer()
    let request = CheckRequest(try CheckTarget("tcp://10.0.0.9:1"))
    let states = Locked<[CheckResult.State]>([])
    let note: @Sendable (CheckOutcome) -> Void = { outcome in states.withLock { $0.append(outcome.result.state) } }
    func begin() throws -> (SharedCheck, any CheckCancellation) {
      guard case .new(let run, let place) = coalescer.join(request, .zero, note) else { throw TestFailure() }
      return (run, place)
    }
    func outcome(_ state: CheckResult.State) -> CheckOutcome {
      CheckOutcome(request: request, result: CheckResult(state, startedAt: .now, duration: .zero))
    }
    let (early, place) = try begin()
    let before = ContinuousClock.now
    coalescer.close(early)
    // It has a result and only evaluates the route: a new caller starts a new check.
    let (late, _) = try begin()
    coalescer.finish(late, outcome(.up), at: .now)
    coalescer.finish(early, outcome(.down), at: before)
    #expect(states.withLock(\.self) == [.up, .down], "each is told its own")
    guard case .cached(let known) = coalescer.join(request, .seconds(60), note) else { throw TestFailure() }
    #expect(known.result.state == .up, "the younger one is known")
    place.cancel()
    let (left, leaving) = try begin()
    leaving.cancel()
    coalescer.finish(left, outcome(.down), at: .now)
    guard case .cached(let still) = coalescer.join(request, .seconds(60), note) else { throw TestFailure() }
    #expect(still.result.state == .up)
  }

  private struct TestFailure: Error {}
}
