import EventLoop
import Locks
import TestSupport
import Testing

@Suite struct LoopWatcherTests {
  /// What a watcher has reported about threads with one name.
  private final class Events: Sendable {
    private let list = Locked<[Bool]>([])
    var ends: [Bool] { list.withLock(\.self) }
    func add(_ event: LoopWatcher.Event) { list.withLock { $0.append(event.isOver) } }
  }

  @Test func aBlockedThreadIsReportedUntilItContinues() throws {
    let events = Events()
    let watcher = LoopWatcher { if $0.name == "blocked" { events.add($0) } }
    try watcher.start()
    defer { watcher.stop() }
    let (blocked, isOver) = (Latch(), Latch())
    defer { isOver.open() }
    let thread = try LoopThread("blocked") {
      guard let poller = try? Poller(capacity: 1) else { return }
      _ = poller.wait(atMost: .zero)
      blocked.wait()
      _ = poller.wait(atMost: .zero)
      isOver.wait()
    }
    #expect(eventually(within: patience) { events.ends == [false] })
    let report = watcher.reports.first { $0.name == "blocked" }
    #expect(report?.total == 1)
    #expect(report.map { $0.stall >= .seconds(2) } == true)
    blocked.open()
    #expect(eventually(within: patience) { events.ends.contains(true) })
    isOver.open()
    thread.join()
    #expect(!LoopProgress.watched.contains { $0.name == "blocked" })
  }

  @Test func aWaitingThreadIsNotReported() throws {
    let events = Events()
    let watcher = LoopWatcher { if $0.name == "waiting" || $0.name == "blocked too" { events.add($0) } }
    try watcher.start()
    defer { watcher.stop() }
    let (blocked, waker) = (Latch(), try Waker())
    let waiting = try LoopThread("waiting") {
      guard let poller = try? Poller(capacity: 1) else { return }
      try? waker.attach(to: poller, token: 1)
      while poller.wait(atMost: nil) == 0 {}
    }
    let other = try LoopThread("blocked too") {
      guard let poller = try? Poller(capacity: 1) else { return }
      _ = poller.wait(atMost: .zero)
      blocked.wait()
    }
    // The other thread shows that the time has passed.
    #expect(eventually(within: patience) { events.ends == [false] })
    #expect(watcher.reports.first { $0.name == "waiting" }?.total == 0)
    blocked.open()
    waker.wake()
    waiting.join()
    other.join()
  }

  @Test func anUnwatchedThreadIsNotReported() throws {
    let names = Locked<[String]>([])
    try LoopThread("unwatched", isWatched: false) {
      names.withLock { $0 = LoopProgress.watched.map(\.name) }
    }.join()
    #expect(!names.withLock(\.self).contains("unwatched"))
  }

  @Test func theTurnsOfAQueueAreWatched() throws {
    let progress = LoopProgress("queue of a test")
    defer { progress.end() }
    #expect(progress.turns == 0)
    progress.turn { #expect(progress.turns == 1) }
    progress.turn {}
    #expect(progress.turns == 2)
    #expect(LoopProgress.watched.contains { $0 === progress })
  }
}
