import ReachabilityModel
import Testing

@Suite("A target's state changes when enough results say so")
struct TargetStatusTests {
  let definition = TargetDefinition(id: "db", target: CheckTarget(.tcp, host: .default, port: 1), fall: 3, rise: 2)

  func time(_ second: Int) -> Timestamp { Timestamp(microseconds: Int64(second) * 1_000_000) }

  func result(_ state: CheckResult.State, _ reason: Reason? = nil) -> CheckResult {
    CheckResult(state, reason, startedAt: time(0), duration: .milliseconds(1))
  }

  /// The states after each of the results, one a second, from the first one on.
  func states(_ results: [CheckResult.State], from status: TargetStatus? = nil) -> [TargetState] {
    var status = status ?? TargetStatus(at: time(0))
    return results.enumerated().map { second, state in
      status.take(result(state), definition, at: time(second + 1))
      return status.state
    }
  }

  struct Course: CustomTestStringConvertible {
    let results: [CheckResult.State]
    let states: [TargetState]
    init(_ results: [CheckResult.State], _ states: [TargetState]) {
      self.results = results
      self.states = states
    }
    var testDescription: String { "\(results.map(\.rawValue))" }
  }

  @Test(
    "Courses",
    arguments: [
      // The first result decides.
      Course([.up], [.up]), Course([.down], [.down]), Course([.unreachable], [.unreachable]),
      Course([.unknown, .down], [.unknown, .down]), Course([.unknown, .up], [.unknown, .up]),
      // Three to fall, two to rise, in a row.
      Course([.up, .down, .down, .down], [.up, .up, .up, .down]),
      Course([.up, .down, .down, .up, .down, .down, .down], [.up, .up, .up, .up, .up, .up, .down]),
      Course([.down, .up, .down, .up, .up], [.down, .down, .down, .down, .up]),
      // What cannot be told counts against `up`, and the last one names the state.
      Course([.up, .unknown, .unknown, .unknown], [.up, .up, .up, .unknown]),
      Course([.up, .unknown, .down, .down], [.up, .up, .up, .down]),
      Course([.up, .down, .down, .unknown], [.up, .up, .up, .unknown]),
      // An unknown result needs three, too, and a response in between starts the count again.
      Course([.down, .unknown, .unknown, .unknown], [.down, .down, .down, .unknown]),
      Course([.down, .up, .unknown, .up, .up], [.down, .down, .down, .down, .up]),
      // A missing way waits for nothing, and after it the first good result decides: a bad one may still be our own fault.
      Course([.up, .unreachable, .up], [.up, .unreachable, .up]),
      Course([.up, .unreachable, .down, .up], [.up, .unreachable, .unreachable, .up]),
      Course([.unreachable, .down, .unknown, .down], [.unreachable, .unreachable, .unreachable, .down]),
      Course([.unreachable, .down, .down, .unreachable, .down], .init(repeating: .unreachable, count: 5)),
      Course([.up, .down, .unreachable, .up, .down], [.up, .up, .unreachable, .up, .up]),
    ])
  func courses(_ course: Course) {
    #expect(states(course.results) == course.states)
  }

  @Test("A change that has begun is pending, counted, and forgotten when it does not come")
  func pending() {
    var status = TargetStatus(at: time(0))
    #expect(status.state == .unknown && status.reason == .starting && !status.isPending)
    status.take(result(.up), definition, at: time(1))
    #expect(status.since == time(1) && status.reason == nil)
    status.take(result(.down, .refused), definition, at: time(2))
    #expect(status.isPending && status.consecutiveFailures == 1 && status.reason == nil && status.since == time(1))
    status.take(result(.up), definition, at: time(3))
    #expect(!status.isPending && status.consecutiveFailures == 0)
    for second in 4...6 { status.take(result(.down, .refused), definition, at: time(second)) }
    #expect(status.state == .down && status.reason == .refused && status.since == time(6))
    #expect(!status.isPending && status.consecutiveFailures == 3)
    // The same state for another reason: it goes on.
    status.take(result(.down, .connectTimeout), definition, at: time(7))
    #expect(status.reason == .connectTimeout && status.since == time(6) && status.consecutiveFailures == 4)
  }

  @Test("A missing route counts immediately and is not the target's failure")
  func way() {
    var status = TargetStatus(at: time(0))
    status.take(result(.up), definition, at: time(1))
    status.loseRoute(.linkDown, at: time(2))
    #expect(status.state == .unreachable && status.reason == .linkDown && status.since == time(2))
    status.loseRoute(.noRoute, at: time(3))
    #expect(status.reason == .noRoute && status.since == time(2) && status.consecutiveFailures == 0)
  }

  @Test("A paused target ignores results, and starts again")
  func paused() {
    var status = TargetStatus(at: time(0))
    status.take(result(.down, .refused), definition, at: time(1))
    status.pause(true, at: time(2))
    #expect(status.state == .paused && status.reason == nil && status.since == time(2))
    status.pause(true, at: time(3))
    status.take(result(.up), definition, at: time(3))
    status.loseRoute(.noRoute, at: time(3))
    #expect(status.state == .paused && status.since == time(2))
    status.pause(false, at: time(4))
    #expect(status.state == .unknown && status.reason == .starting && status.lastResult?.state == .down)
    status.take(result(.up), definition, at: time(5))
    #expect(status.state == .up)
  }

  @Test("Flapping begins with the sixth change among twenty results, and ends below the fourth")
  func flapping() {
    var status = TargetStatus(at: time(0))
    func take(_ state: CheckResult.State) { status.take(result(state), definition, at: time(1)) }
    for count in 0..<7 {
      #expect(!status.isFlapping, "before result \(count)")
      take(count % 2 == 0 ? .up : .down)
    }
    #expect(status.isFlapping)
    // The changes leave the window one by one: the last three when twenty results have followed the fourth.
    for _ in 0..<16 { take(.up) }
    #expect(status.isFlapping)
    take(.up)
    #expect(!status.isFlapping)
  }

  @Test("What says nothing about the target is no flapping")
  func noFlapping() {
    var status = TargetStatus(at: time(0))
    for count in 0..<40 { status.take(result(count % 2 == 0 ? .up : .unreachable), definition, at: time(1)) }
    #expect(!status.isFlapping)
  }
}
