import Testing

@testable import History

@Suite struct EventClockTests {
  private let s: (Int64) -> Int64 = HistoryFixture.s

  private func moment(_ uptime: Int64, shift: Int64) -> StoreTime {
    StoreTime(wall: s(uptime + shift), uptime: s(uptime))
  }

  @Test(arguments: ServiceTimeTests.steps) func ageIsIndependentOfSteps(step: Int64) {
    let base: Int64 = 1_800_000_000
    let clock = EventClock([], next: 1, now: moment(0, shift: base))
    clock.note(1, at: moment(100, shift: base))
    clock.note(2, at: moment(200, shift: base + step))
    clock.note(3, at: moment(300, shift: base))
    for shift in [base, base + step] {
      let now = moment(400, shift: shift)
      #expect(clock.age(of: 1, at: s(100 + base), now: now) == .seconds(300))
      #expect(clock.age(of: 2, at: s(200 + base + step), now: now) == .seconds(200))
      #expect(clock.age(of: 3, at: s(300 + base), now: now) == .seconds(100))
      // Not noted yet: at most as old as the last step.
      #expect(clock.age(of: 4, at: s(350 + base - 10_000), now: now) == .seconds(100))
      #expect(clock.age(of: 4, at: s(350 + base + 10_000), now: now) == .zero)
    }
  }

  @Test func eventsOfEarlierRunsAreAsOldAsTheServiceRuns() throws {
    let fixture = try HistoryFixture()
    try fixture.begin(boot: "a", at: 0, shift: 1_000_000)
    try fixture.publish(1...1, at: 100)
    try fixture.live(until: 1_000)
    // A year off, and a clock that begins in 1970.
    try fixture.begin(boot: "b", at: 10, shift: 0)
    let now = fixture.time(60)
    let stretches = try ClockStretch.newest(since: .min, now: now, in: fixture.connection)
    let clock = EventClock(stretches, next: 2, now: now)
    #expect(clock.age(of: 1, at: s(1_000_100), now: now) == .seconds(900 + 50))
    #expect(clock.age(of: 2, at: now.wall, now: now) == .zero)
    #expect(clock.age(of: 2, at: now.wall, now: moment(70, shift: 9_999)) == .seconds(10))
  }

  @Test func theNumberOfStepsIsLimited() {
    let clock = EventClock([], next: 1, now: moment(0, shift: 0))
    for event in 1...UInt64(Limits.stretches + 100) {
      clock.note(event, at: moment(Int64(event), shift: event.isMultiple(of: 2) ? 0 : 100_000))
    }
    let now = moment(Int64(Limits.stretches) + 100, shift: 0)
    #expect(clock.age(of: 1, at: s(1), now: now) <= .seconds(Limits.stretches + 100))
    #expect(clock.age(of: UInt64(Limits.stretches + 100), at: now.wall, now: now) == .zero)
  }
}
