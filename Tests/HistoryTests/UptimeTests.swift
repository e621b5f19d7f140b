import TestSupport
import Testing

@testable import History

@Suite struct UptimeTests {
  /// Seconds of a test as microseconds.
  private func s(_ seconds: Int64) -> Int64 { seconds * 1_000_000 }

  private func uptime(
    _ changes: [(Int64, UptimeState)], until end: Int64, monitored: [Range<Int64>]
  ) -> UptimeSummary {
    let monitored = monitored.map { s($0.lowerBound)..<s($0.upperBound) }
    var uptime = UptimeAccumulator(at: 0)
    for (time, state) in changes { uptime.change(to: state, at: s(time), monitored: monitored) }
    uptime.advance(to: s(end), monitored: monitored)
    return uptime.take()
  }

  @Test func availabilityCountsOnlyUpAndDown() {
    let all = uptime(
      [(0, .unknown), (10, .up), (50, .down), (60, .unreachable), (70, .paused), (80, .up)], until: 100,
      monitored: [0..<100])
    #expect(all[.unknown] == s(10))
    #expect(all[.up] == s(60))
    #expect(all[.down] == s(10))
    #expect(all[.unreachable] == s(10))
    #expect(all[.paused] == s(10))
    #expect(all.availability == 60.0 / 70.0)
    #expect(all.coverage == 0.7)
    #expect(all.window == s(100))
  }

  @Test func nothingKnownHasNoAvailability() {
    let unknown = uptime([(0, .unknown)], until: 60, monitored: [0..<60])
    #expect(unknown.availability == nil)
    #expect(unknown.coverage == 0)
    #expect(unknown.meanTimeToRepair == nil)
    #expect(unknown.meanTimeBetweenFailures == nil)
    #expect(UptimeSummary().availability == nil)
  }

  @Test func timeWithoutTheServiceIsUnmonitored() {
    let all = uptime([(0, .up)], until: 100, monitored: [0..<30, 50..<60, 90..<200])
    #expect(all[.up] == s(50))
    #expect(all[.unmonitored] == s(50))
    #expect(all.availability == 1)
    #expect(all.coverage == 0.5)
  }

  @Test func anOutageSurvivesOtherStates() {
    let all = uptime(
      [(0, .up), (10, .down), (20, .unreachable), (30, .unknown), (40, .down), (50, .up)], until: 60,
      monitored: [0..<60])
    #expect(all.outages == 1)
    #expect(all.endedOutages == 1)
    #expect(all.repairTime == s(20), "only the time in which it was down")
    #expect(all.meanTimeBetweenFailures == s(20))
  }

  @Test(arguments: [UptimeState.up, .paused, .unmonitored])
  func anOutageEnds(with state: UptimeState) {
    let all = uptime([(0, .up), (10, .down), (30, state), (40, .down)], until: 60, monitored: [0..<60])
    #expect(all.outages == 2)
    #expect(all.endedOutages == 1)
    #expect(all.meanTimeToRepair == s(20))
  }

  @Test func restartInsideAnOutageNeitherEndsNorLengthensIt() {
    let all = uptime([(0, .up), (10, .down), (50, .up)], until: 60, monitored: [0..<20, 40..<60])
    #expect(all.outages == 1)
    #expect(all.meanTimeToRepair == s(20))
    #expect(all[.unmonitored] == s(20))
  }

  /// One to five runs with suspensions, up to forty changes, a window and a step, against a count of every second.
  @Test(arguments: 0..<300)
  func matchesACountOfEverySecond(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let end = Int64.random(in: 1...400, using: &random)
    var edges = (0..<Int.random(in: 0...10, using: &random)).map { _ in Int64.random(in: 0...end, using: &random) }
      .sorted()
    if !edges.count.isMultiple(of: 2) { edges.removeLast() }
    var monitored: [Range<Int64>] = []
    for index in stride(from: 0, to: edges.count, by: 2) where edges[index] < edges[index + 1] {
      monitored.append(edges[index]..<edges[index + 1])
    }
    let changes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
      (Int64.random(in: 0...end, using: &random), UptimeState.allCases.randomElement(using: &random) ?? .up)
    }.sorted { $0.0 < $1.0 }
    let step = Int64.random(in: 1...end, using: &random)

    var uptime = UptimeAccumulator(at: 0)
    var parts: [UptimeSummary] = []
    var total = UptimeSummary()
    let ranges = monitored.map { s($0.lowerBound)..<s($0.upperBound) }
    var pending = changes[...]
    for start in stride(from: 0, to: end, by: Int64.Stride(step)) {
      let stop = min(end, start + step)
      while let next = pending.first, next.0 < stop {
        uptime.change(to: next.1, at: s(next.0), monitored: ranges)
        pending.removeFirst()
      }
      uptime.advance(to: s(stop), monitored: ranges)
      parts.append(uptime.take())
      total += parts[parts.count - 1]
    }

    let expected = Oracle(changes: changes, monitored: monitored, end: end, step: step)
    #expect(parts.map { part in UptimeState.allCases.map { part[$0] / 1_000_000 } } == expected.seconds)
    #expect(parts.map(\.outages) == expected.outages)
    #expect(parts.map(\.endedOutages) == expected.ended)
    #expect(total.repairTime == s(expected.repair))
    #expect(total.window == s(end))
  }

  /// Looks at each second and each change alone.
  private struct Oracle {
    var seconds: [[Int64]] = []
    var outages: [Int] = []
    var ended: [Int] = []
    var repair: Int64 = 0

    init(changes: [(Int64, UptimeState)], monitored: [Range<Int64>], end: Int64, step: Int64) {
      var isOpen = false
      var down: Int64 = 0
      for second in 0..<end {
        if second % step == 0 {
          seconds.append(UptimeState.allCases.map { _ in 0 })
          outages.append(0)
          ended.append(0)
        }
        let bucket = seconds.count - 1
        for (time, state) in changes where time == second {
          if state == .down, !isOpen {
            isOpen = true
            down = 0
            outages[bucket] += 1
          } else if [.up, .paused, .unmonitored].contains(state), isOpen {
            isOpen = false
            repair += down
            ended[bucket] += 1
          }
        }
        let published = changes.last { $0.0 <= second }?.1 ?? .unmonitored
        let state = monitored.contains { $0.contains(second) } ? published : .unmonitored
        seconds[bucket][Int(state.rawValue)] += 1
        if state == .down, isOpen { down += 1 }
      }
    }
  }
}
