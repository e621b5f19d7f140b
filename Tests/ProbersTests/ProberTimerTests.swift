import HostResolver
import Locks
import Probers
import TestSupport
import Testing

@Suite("ProberTimer")
struct ProberTimerTests {
  private let prober = SocketProber(resolver: Resolver())

  @Test func aTimerFiresOnceForEachCall() {
    let fired = Locked(0)
    let timer = prober.makeTimer { fired.withLock { $0 += 1 } }
    for count in 1...3 {
      #expect(timer.fire(after: .milliseconds(1)))
      #expect(eventually { fired.withLock(\.self) == count })
    }
  }

  @Test func aLaterCallReplacesTheTime() {
    let fired = Locked<[Int]>([])
    let late = prober.makeTimer { fired.withLock { $0.append(1) } }
    let early = prober.makeTimer { fired.withLock { $0.append(2) } }
    #expect(late.fire(after: .zero))
    #expect(eventually { fired.withLock(\.self) == [1] })
    #expect(late.fire(after: .milliseconds(5)) && late.fire(after: .seconds(3_600)))
    #expect(early.fire(after: .milliseconds(100)))
    #expect(eventually { !fired.withLock(\.self).isEmpty && fired.withLock(\.self).last == 2 })
    #expect(fired.withLock(\.self) == [1, 2])
  }

  @Test func aBodyMaySetItsTimerAgain() {
    let fired = Locked(0)
    let holder = Locked<ProberTimer?>(nil)
    let timer = prober.makeTimer {
      fired.withLock { $0 += 1 }
      _ = holder.withLock(\.self)?.fire(after: .milliseconds(1))
    }
    holder.withLock { $0 = timer }
    defer { holder.withLock { $0 = nil } }
    #expect(timer.fire(after: .zero))
    #expect(eventually { fired.withLock(\.self) > 5 })
  }

  @Test func aStoppedProberHasNoTimers() {
    let timer = prober.makeTimer {}
    prober.stop()
    #expect(!timer.fire(after: .zero))
  }
}
