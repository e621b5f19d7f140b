import Testing

@testable import EventLoop

@Suite struct LoopStallDetectorTests {
  /// One loop of a test.
  private final class Loop {
    let name: String
    var turn: UInt64?

    init(_ name: String, turn: UInt64? = nil) {
      self.name = name
      self.turn = turn
    }

    var sample: LoopStallDetector.Sample { .init(id: ObjectIdentifier(self), name: name, turn: turn) }
  }

  private static let interval = Limits.watchInterval
  /// The intervals after the first sample of a turn until it is a stall.
  private static let intervals = Int(Limits.stall / Limits.watchInterval)

  private var detector = LoopStallDetector()

  /// Samples loops several times.
  private mutating func observe(
    _ loops: [Loop], times: Int = 1, elapsed: Duration = interval
  ) -> [LoopStallDetector.Change] {
    (0..<times).flatMap { _ in detector.observe(loops.map(\.sample), elapsed: elapsed) }
  }

  @Test mutating func aTurnThatDoesNotEndIsReportedOnce() {
    let loop = Loop("checks", turn: 7)
    #expect(observe([loop], times: Self.intervals).isEmpty)
    #expect(observe([loop]) == [.stalled("checks", Limits.stall)])
    #expect(observe([loop], times: 4).isEmpty)
    #expect(detector.current == ["checks": Limits.stall + Self.interval * 4])
    loop.turn = 9
    #expect(observe([loop]) == [.continued("checks", Limits.stall + Self.interval * 4)])
    #expect(detector.current.isEmpty)
    #expect(detector.totals == ["checks": 1])
  }

  @Test mutating func aLoopThatWaitsIsNotStalled() {
    let loop = Loop("http")
    #expect(observe([loop], times: 100).isEmpty)
    #expect(detector.totals == ["http": 0])
  }

  @Test mutating func aLoopThatTurnsWithoutEndIsNotStalled() {
    let loop = Loop("http", turn: 1)
    for turn in 1..<100 {
      loop.turn = UInt64(turn) * 2 + 1
      #expect(observe([loop]).isEmpty)
    }
  }

  @Test mutating func aTurnJustBelowTheLimitIsNotReported() {
    let loop = Loop("netlink", turn: 1)
    for turn in 1..<20 {
      loop.turn = UInt64(turn) * 2 + 1
      #expect(observe([loop], times: Self.intervals).isEmpty)
    }
    #expect(detector.totals == ["netlink": 0])
  }

  @Test("A stopped process or an overloaded machine delays the watcher as well", arguments: [60, 86_400 * 365])
  mutating func delay(seconds: Int) {
    let loop = Loop("checks", turn: 1)
    #expect(observe([loop], times: 2).isEmpty)
    // SIGSTOP, and the same turn continues after SIGCONT.
    #expect(observe([loop], elapsed: .seconds(seconds)).isEmpty)
    loop.turn = 3
    #expect(observe([loop]).isEmpty)
    #expect(detector.totals == ["checks": 0])
  }

  @Test("A watcher that was delayed at each sample reports after as many samples")
  mutating func delays() {
    let loop = Loop("checks", turn: 1)
    #expect(observe([loop], times: Self.intervals, elapsed: .seconds(30)).isEmpty)
    #expect(observe([loop], elapsed: .seconds(30)) == [.stalled("checks", Limits.stall)])
  }

  @Test mutating func samplesInQuickSuccessionCountTheirTimeOnly() {
    let loop = Loop("checks", turn: 1)
    #expect(observe([loop], times: 1_000, elapsed: .milliseconds(1)).isEmpty)
    #expect(observe([loop], times: 1_000, elapsed: .milliseconds(1)).isEmpty)
    #expect(observe([loop], times: 10, elapsed: .milliseconds(1)).count == 1)
    #expect(observe([loop], times: 10, elapsed: .zero).isEmpty)
  }

  @Test mutating func aThreadThatEndsWhileItIsStalled() {
    let loop = Loop("streams", turn: 1)
    _ = observe([loop], times: Self.intervals + 1)
    #expect(observe([]) == [.continued("streams", Limits.stall)])
    #expect(observe([]).isEmpty)
    #expect(detector.totals == ["streams": 1])
  }

  @Test mutating func threadsOfOneNameAreCountedTogether() {
    let loops = [Loop("echoes", turn: 1), Loop("echoes", turn: 5), Loop("echoes")]
    #expect(observe(loops, times: Self.intervals + 1).count == 2)
    #expect(observe(loops).isEmpty)
    #expect(detector.current == ["echoes": Limits.stall + Self.interval])
    #expect(detector.totals == ["echoes": 2])
    loops[0].turn = nil
    #expect(observe(loops) == [.continued("echoes", Limits.stall + Self.interval)])
    #expect(detector.current.count == 1)
  }

  @Test mutating func aTurnWithTheSameNumberInAnotherLoopIsAnother() {
    let first = Loop("checks", turn: 1)
    _ = observe([first], times: Self.intervals)
    #expect(observe([Loop("checks", turn: 1)]).isEmpty)
  }
}
