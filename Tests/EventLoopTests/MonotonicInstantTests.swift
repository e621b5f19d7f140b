import EventLoop
import Testing

@Suite struct MonotonicInstantTests {
  @Test func arithmeticSaturatesAtTheLimitsOfTheClock() {
    let instant = MonotonicInstant(nanoseconds: 1_000)
    #expect(instant.advanced(by: .microseconds(3)) == MonotonicInstant(nanoseconds: 4_000))
    #expect(instant.advanced(by: .microseconds(-3)) == MonotonicInstant(nanoseconds: -2_000))
    #expect(instant.advanced(by: .seconds(Int64.max)) == MonotonicInstant(nanoseconds: .max))
    let negative = MonotonicInstant(nanoseconds: -1)
    #expect(negative.advanced(by: .seconds(Int64.min)) == MonotonicInstant(nanoseconds: .min))
    let longest = Duration.seconds(9_223_372_036) + .nanoseconds(854_775_807)
    #expect(instant.advanced(by: longest) == MonotonicInstant(nanoseconds: .max))
    #expect(instant.duration(to: instant.advanced(by: .seconds(7))) == .seconds(7))
    let (first, last) = (MonotonicInstant(nanoseconds: .min), MonotonicInstant(nanoseconds: .max))
    #expect(
      first.duration(to: last) == Duration.nanoseconds(Int64.max)
        && last.duration(to: first) == Duration.nanoseconds(Int64.min))
    #expect(instant < instant.advanced(by: .nanoseconds(1)))
    #expect(instant.sinceZero == .microseconds(1))
  }

  @Test func theClocksAdvance() {
    let first = (MonotonicInstant.now, SystemClock.boottime)
    let second = (MonotonicInstant.now, SystemClock.boottime)
    #expect(first.0 <= second.0 && first.1 <= second.1)
    // CLOCK_BOOTTIME counts from the same zero, and sleep in addition.
    #expect(SystemClock.boottime >= second.0.nanoseconds)
    // 2020-01-01: a clock in seconds or milliseconds would be below.
    #expect(SystemClock.realtime > 1_577_836_800_000_000_000)
  }
}
