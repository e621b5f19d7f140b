import Testing

@testable import History

@Suite struct UptimeTimelineTests {
  @Test func aStepOfTheClockMovesTheWholeBoot() {
    let runs = [
      UptimeRun(id: 1, boot: "a", started: 100, alive: 200, shift: 1_000),
      UptimeRun(id: 2, boot: "a", started: 250, alive: 300, shift: 6_000),
    ]
    let timeline = UptimeTimeline(runs: runs)
    #expect(timeline.monitored == [6_100..<6_200, 6_250..<6_300])
    #expect(timeline.time(run: 1, boottime: 150) == 6_150)
    #expect(timeline.time(run: 3, boottime: 150) == nil)
  }

  @Test func bootsDoNotOverlap() {
    // The clock was set back by 5,000 during the second boot.
    let runs = [
      UptimeRun(id: 1, boot: "a", started: 100, alive: 900, shift: 10_000),
      UptimeRun(id: 2, boot: "b", started: 10, alive: 400, shift: 6_000),
    ]
    let timeline = UptimeTimeline(runs: runs)
    #expect(timeline.monitored == [5_210..<6_010, 6_010..<6_400])
  }

  @Test func aBootBetweenOthersIsPlacedByItself() {
    let runs = [
      UptimeRun(id: 1, boot: "a", started: 0, alive: 10, shift: 100),
      UptimeRun(id: 2, boot: "b", started: 0, alive: 10, shift: 200),
      UptimeRun(id: 3, boot: "a", started: 500, alive: 510, shift: 100),
    ]
    #expect(UptimeTimeline(runs: runs).monitored == [100..<110, 200..<210, 600..<610])
  }

  /// Without a battery, a boot begins in 1970; it happened between the others, and as late as possible.
  @Test func aBootWhoseClockIsBehindIsPlacedBeforeTheNextOne() {
    let runs = [
      UptimeRun(id: 1, boot: "a", started: 0, alive: 100, shift: 10_000),
      UptimeRun(id: 2, boot: "b", started: 5, alive: 50, shift: 0),
      UptimeRun(id: 3, boot: "c", started: 5, alive: 60, shift: 0),
      UptimeRun(id: 4, boot: "d", started: 10, alive: 20, shift: 20_000),
    ]
    #expect(
      UptimeTimeline(runs: runs).monitored == [10_000..<10_100, 19_910..<19_955, 19_955..<20_010, 20_010..<20_020])
  }

  @Test func aBootWhoseClockIsAheadIsPlacedBeforeTheNextOne() {
    let runs = [
      UptimeRun(id: 1, boot: "a", started: 0, alive: 100, shift: 90_000),
      UptimeRun(id: 2, boot: "b", started: 0, alive: 100, shift: 10_000),
      UptimeRun(id: 3, boot: "c", started: 0, alive: 20, shift: 20_000),
    ]
    #expect(UptimeTimeline(runs: runs).monitored == [9_900..<10_000, 10_000..<10_100, 20_000..<20_020])
  }

  @Test func suspendedTimeIsNotMonitored() {
    let run = UptimeRun(id: 1, boot: "a", started: 0, alive: 100, shift: 1_000)
    let timeline = UptimeTimeline(
      runs: [run],
      suspensions: [.init(run: 1, range: 10..<20), .init(run: 1, range: 90..<100), .init(run: 7, range: 0..<9)])
    #expect(timeline.monitored == [1_000..<1_010, 1_020..<1_090])
  }

  @Test func noRunsMeansNothingIsMonitored() {
    #expect(UptimeTimeline(runs: []).monitored.isEmpty)
  }
}
