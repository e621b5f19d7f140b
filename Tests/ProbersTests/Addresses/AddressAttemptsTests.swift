import EventLoop
import ReachabilityModel
import Testing

@testable import Probers

@Suite struct AddressAttemptsTests {
  private static func at(_ milliseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
  }

  /// Starts the address that the attempts name; returns its index.
  private static func start(_ attempts: inout AddressAttempts, at time: Int64) -> Int? {
    guard case .start(let index) = attempts.step(at: at(time)) else { return nil }
    attempts.started(at: at(time))
    return index
  }

  @Test("The next attempt starts 250 ms after the last one")
  func delay() {
    var attempts = AddressAttempts(count: 3, within: .seconds(5))
    #expect(Self.start(&attempts, at: 0) == 0)
    #expect(attempts.step(at: Self.at(0)) == .wait(until: Self.at(250)))
    #expect(attempts.step(at: Self.at(249)) == .wait(until: Self.at(250)))
    #expect(Self.start(&attempts, at: 251) == 1)
    #expect(attempts.step(at: Self.at(251)) == .wait(until: Self.at(501)))
    #expect(Self.start(&attempts, at: 501) == 2)
    #expect(attempts.step(at: Self.at(10_000)) == .wait(until: nil))
  }

  @Test("The next attempt starts when the last one fails")
  func failure() {
    var attempts = AddressAttempts(count: 3, within: .seconds(5))
    #expect(Self.start(&attempts, at: 0) == 0)
    attempts.failed(0, .down)
    #expect(Self.start(&attempts, at: 1) == 1)
    attempts.failed(1, .down)
    #expect(Self.start(&attempts, at: 2) == 2)
    attempts.failed(2, .down)
    #expect(attempts.step(at: Self.at(2)) == .failed(0))
  }

  @Test("The failure of an earlier attempt does not start the next one early")
  func earlierFailure() {
    var attempts = AddressAttempts(count: 3, within: .seconds(5))
    #expect(Self.start(&attempts, at: 0) == 0)
    #expect(Self.start(&attempts, at: 250) == 1)
    attempts.failed(0, .down)
    #expect(attempts.step(at: Self.at(260)) == .wait(until: Self.at(500)))
    attempts.failed(1, .down)
    #expect(attempts.step(at: Self.at(270)) == .start(2))
  }

  @Test("Without a running attempt the next one does not wait")
  func noneRunning() {
    var attempts = AddressAttempts(count: 3, within: .seconds(5))
    #expect(Self.start(&attempts, at: 0) == 0)
    #expect(Self.start(&attempts, at: 250) == 1)
    attempts.failed(1, .unreachable)
    attempts.postponed(at: Self.at(260))
    #expect(attempts.step(at: Self.at(270)) == .wait(until: Self.at(510)))
    attempts.failed(0, .down)
    #expect(attempts.step(at: Self.at(280)) == .start(2))
  }

  @Test("Every address has its turn within a short timeout")
  func shortTimeout() {
    var attempts = AddressAttempts(count: 4, within: .milliseconds(200))
    for index in 0..<4 { #expect(Self.start(&attempts, at: Int64(index) * 50) == index) }
    var many = AddressAttempts(count: 16, within: .milliseconds(1))
    #expect(Self.start(&many, at: 0) == 0)
    #expect(many.step(at: Self.at(1)) == .wait(until: Self.at(10)))
    var past = AddressAttempts(count: 2, within: .seconds(-1))
    #expect(Self.start(&past, at: 0) == 0)
    #expect(past.step(at: Self.at(1)) == .wait(until: Self.at(10)))
  }

  @Test(
    "The result of the failures",
    arguments: [
      ([CheckResult.State.unreachable, .down], 1), ([.down, .unreachable], 0), ([.unreachable, .unreachable], 0),
      ([.down, .unknown], 1), ([.unreachable, .down, .down], 1), ([.unknown], 0),
    ])
  func leading(states: [CheckResult.State], expected: Int) {
    var attempts = AddressAttempts(count: states.count, within: .seconds(5))
    for (index, state) in states.enumerated() {
      #expect(Self.start(&attempts, at: 0) == index)
      attempts.failed(index, state)
    }
    #expect(attempts.step(at: Self.at(0)) == .failed(expected))
  }

  @Test func withoutAddresses() {
    #expect(AddressAttempts(count: 0, within: .seconds(1)).step(at: Self.at(0)) == .failed(0))
  }
}
