internal import Locks

/// Reports threads and queues that do not turn, from a thread of its own.
///
/// A loop that waits for a descriptor or a timer is not stalled. A loop is stalled while one call of its turn does not return:
/// a library that waits for a peer, a lock of the kernel, a computation.
package final class LoopWatcher: Sendable {
  /// A change of a thread or a queue.
  package struct Event: Sendable {
    /// The name of the thread or the queue.
    package let name: String
    /// The observed duration of its turn.
    package let duration: Duration
    /// Whether it turns again.
    package let isOver: Bool
  }

  /// The threads and queues with a name.
  package struct Report: Sendable {
    package let name: String
    /// The observed duration of the longest turn in progress, if it is a stall; zero otherwise.
    package let stall: Duration
    package let total: Int
  }

  private let detector = Locked(LoopStallDetector())
  private let thread = Locked<(thread: LoopThread, waker: Waker)?>(nil)
  private let onChange: @Sendable (Event) -> Void

  /// Makes a watcher that is not started.
  ///
  /// - Parameter onChange: called on the watcher's thread when a stall is observed, and when it is over.
  package init(onChange: @escaping @Sendable (Event) -> Void) { self.onChange = onChange }

  deinit { stop() }

  /// Starts the thread; has no effect if it runs.
  ///
  /// - Throws: an ``EventLoopError`` if the process has reached a limit.
  package func start() throws(EventLoopError) {
    try thread.withLock { (running) throws(EventLoopError) in
      guard running == nil else { return }
      // The first reports have every thread.
      observe(elapsed: .zero)
      let poller = try Poller(capacity: 1)
      let waker = try Waker()
      try waker.attach(to: poller, token: Poller.mailboxToken)
      running = (
        try LoopThread("watchdog", isWatched: false) { [weak self] in Self.run(poller, waker) { self } }, waker
      )
    }
  }

  /// Ends the thread and waits for it.
  package func stop() {
    let running = thread.withLock { running in
      defer { running = nil }
      return running
    }
    running?.waker.wake()
    running?.thread.join()
  }

  /// Every name that was observed, in alphabetical order.
  package var reports: [Report] {
    detector.withLock { detector in
      let current = detector.current
      return detector.totals.sorted { $0.key < $1.key }.map { name, total in
        Report(name: name, stall: current[name] ?? .zero, total: total)
      }
    }
  }

  private static func run(_ poller: Poller, _ waker: Waker, _ watcher: () -> LoopWatcher?) {
    var before = MonotonicInstant.now
    while true {
      _ = poller.wait(atMost: Limits.watchInterval)
      guard !waker.isPending, let watcher = watcher() else { return }
      let now = MonotonicInstant.now
      watcher.observe(elapsed: before.duration(to: now))
      before = now
    }
  }

  private func observe(elapsed: Duration) {
    let samples = LoopProgress.watched.map {
      LoopStallDetector.Sample(id: ObjectIdentifier($0), name: $0.name, turn: $0.currentTurn)
    }
    for change in detector.withLock({ $0.observe(samples, elapsed: elapsed) }) {
      switch change {
      case .stalled(let name, let time): onChange(Event(name: name, duration: time, isOver: false))
      case .continued(let name, let time): onChange(Event(name: name, duration: time, isOver: true))
      }
    }
  }
}
