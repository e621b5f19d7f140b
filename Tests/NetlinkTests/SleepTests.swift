import CNetlink
import Glibc
import Locks
import Logging
import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

@Suite("SleepDetector") struct SleepDetectorTests {
  private func moment(_ uptime: Duration, asleep: Duration) -> KernelClock.Moment {
    KernelClock.Moment(uptime: uptime, asleep: asleep)
  }

  @Test("E7-3 suspended time is CLOCK_BOOTTIME minus CLOCK_MONOTONIC, reported once")
  func sleeps() {
    var detector = SleepDetector(at: moment(.seconds(100), asleep: .seconds(5)))
    detector.waitBegins(at: moment(.seconds(100), asleep: .seconds(5)))
    #expect(detector.waitEnds(at: moment(.seconds(110), asleep: .seconds(5))) == nil)
    #expect(detector.waitEnds(at: moment(.seconds(111), asleep: .seconds(3605))) == .seconds(3600))
    #expect(detector.waitEnds(at: moment(.seconds(112), asleep: .seconds(3605))) == nil)
    #expect(detector.waitEnds(at: moment(.seconds(113), asleep: .seconds(3605) + Limits.sleepThreshold)) != nil)
  }

  @Test("Two clocks read at different instants are no suspension")
  func jitter() {
    var detector = SleepDetector(at: moment(.zero, asleep: .zero))
    for turn in 1...10_000 {
      let error = Duration.microseconds(turn.isMultiple(of: 2) ? -90_000 : 0)
      #expect(detector.waitEnds(at: moment(.milliseconds(turn), asleep: error)) == nil)
    }
    #expect(detector.waitEnds(at: moment(.seconds(11), asleep: Limits.sleepThreshold)) != nil)
  }

  @Test("E7-3 a long stop of the process counts as a suspension")
  func stops() {
    var detector = SleepDetector(at: moment(.zero, asleep: .zero))
    detector.waitBegins(at: moment(.seconds(1), asleep: .zero))
    #expect(detector.waitEnds(at: moment(.seconds(1) + Limits.heartbeat + .seconds(4), asleep: .zero)) == nil)
    detector.waitBegins(at: moment(.seconds(20), asleep: .zero))
    #expect(
      detector.waitEnds(at: moment(.seconds(20) + Limits.heartbeat + Limits.stopThreshold, asleep: .zero))
        == Limits.stopThreshold)
  }

  @Test("The suspended time of this machine is constant while it runs")
  func thisMachine() {
    let first = KernelClock.now
    for _ in 0..<1000 { #expect(abs((KernelClock.now.asleep - first.asleep) / .milliseconds(1)) < 1000) }
    #expect(KernelClock.now.uptime > first.uptime)
  }
}

/// The source with a clock that the test sets, and with the wall clock of the machine.
@Suite(.enabled(if: Namespace.isSupported), .serialized) struct SleepTests {
  @Test("E7-3 a suspension causes a complete reading with the cause resume")
  func resumes() throws {
    let slept = Locked(Duration.zero)
    var settings = NetlinkSource.Settings()
    settings.clock = {
      var now = KernelClock.now
      now.asleep += slept.withLock(\.self)
      return now
    }
    let running = try RunningSource(settings: settings)
    #expect(running.source.counters.resumes == 0)
    running.observer.removeAll()
    slept.withLock { $0 += .seconds(3600) }
    // Waking ends the wait by itself; here the test does.
    running.source.refresh()
    #expect(eventually { running.source.counters.resumes == 1 })
    #expect(eventually { running.observer.causes.contains(.resume) })
    let before = running.source.counters.readings
    running.source.refresh()
    #expect(eventually { running.source.counters.readings > before })
    #expect(running.source.counters.resumes == 1, "told once")
  }

  @Test("E7-3 setting the wall clock causes no reading", .enabled(if: WallClock.canBeSet))
  func clockSteps() throws {
    let turns = Locked(0)
    var settings = NetlinkSource.Settings()
    settings.clock = {
      turns.withLock { $0 += 1 }
      return KernelClock.now
    }
    let running = try RunningSource(settings: settings)
    // Until the events of the cable's making are read.
    #expect(running.becomes(ipv4: true, ipv6: true))
    let (readings, before) = (running.source.counters.readings, turns.withLock(\.self))
    #expect(WallClock.step())
    // The jump ends the wait: a sleep would be found out now.
    #expect(eventually { turns.withLock(\.self) >= before + 2 })
    #expect(WallClock.step())
    #expect(eventually { turns.withLock(\.self) >= before + 4 }, "the timer goes on watching")
    #expect(running.source.counters.resumes == 0)
    #expect(running.source.counters.readings == readings || running.source.counters.events > 0)
    #expect(!running.observer.causes.contains(.resume))
  }
}

/// The machine's wall clock, which these tests move by a nanosecond: the least that the kernel tells timers of.
enum WallClock {
  static func step() -> Bool {
    var change = timex()
    change.modes = UInt32(ADJ_SETOFFSET | ADJ_NANO)
    change.time.tv_usec = 1
    return unsafe adjtimex(&change) >= 0
  }

  static let canBeSet = step()
}
