import Testing

@testable import Names

@Suite("Moments of the monotonic clock")
struct InstantTests {
  @Test func theyMoveAsFarAsTheClockGoes() {
    let moment = Instant(nanoseconds: 1_000)
    #expect(moment.advanced(by: .microseconds(3)) == Instant(nanoseconds: 4_000))
    #expect(moment.advanced(by: .microseconds(-3)) == Instant(nanoseconds: -2_000))
    #expect(moment.advanced(by: .seconds(Int64.max)) == Instant(nanoseconds: .max))
    #expect(Instant(nanoseconds: -1).advanced(by: .seconds(Int64.min)) == Instant(nanoseconds: .min))
    #expect(moment.advanced(by: .seconds(9_223_372_036) + .nanoseconds(854_775_807)) == Instant(nanoseconds: .max))
    #expect(moment.duration(to: moment.advanced(by: .seconds(7))) == .seconds(7))
    #expect(moment < moment.advanced(by: .nanoseconds(1)))
  }
}
