import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("Concurrent starts and stops")
struct RunTests {
  /// A source that calls a closure during its start and its stop, and exposes its observer.
  final class Source: KernelSource {
    let timeSinceProgress = Duration.zero
    let kernel = ScriptedKernel(.wired)
    let beforeStart = Shared<(@Sendable () -> Void)?>(nil)
    let afterStop = Shared<(@Sendable () -> Void)?>(nil)
    let observer = Shared<(any KernelObserver)?>(nil)
    let (starts, stops) = (Shared(0), Shared(0))

    func start(_ observer: any KernelObserver) throws(KernelError) {
      self.observer.withLock { $0 = observer }
      beforeStart.value?()
      try kernel.start(observer)
      starts.withLock { $0 += 1 }
    }

    func stop() {
      stops.withLock { $0 += 1 }
      kernel.stop()
      afterStop.value?()
    }

    func refresh() { kernel.refresh() }

    func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] { try kernel.lookUp(queries) }
  }

  /// A monitor that uses these sources, one for each start.
  static func monitor(_ sources: [Source]) -> ReachabilityMonitor {
    let left = Shared(sources)
    return ReachabilityMonitor(kernel: { left.withLock { $0.removeFirst() } })
  }

  @Test("E2-8 a stop does not undo a later start")
  func stopThenStart() throws {
    let sources = [Source(), Source()]
    let monitor = Self.monitor(sources)
    let recorder = UpdateRecorder()
    let subscription = Shared<ReachabilityMonitor.Subscription?>(nil)
    try monitor.start()
    sources[0].afterStop.withLock { action in
      action = {
        onThreads(1) { _ in
          try? monitor.start()
          let fresh = monitor.listen(on: .immediate) { recorder.record($0) }
          subscription.withLock { $0 = fresh }
        }
      }
    }
    monitor.stop()
    #expect(monitor.snapshot.status == online)
    sources[1].kernel.change { $0.addDefault(via: "10.0.0.2", on: 2, metric: 1) }
    #expect(recorder.updates.count == 2)
    sources[0].afterStop.withLock { $0 = nil }
  }

  @Test("A stop during a start stops the source")
  func stopWithinStart() throws {
    let source = Source()
    let monitor = Self.monitor([source])
    source.beforeStart.withLock { $0 = { onThreads(1) { _ in monitor.stop() } } }
    try monitor.start()
    #expect(monitor.snapshot.status == .unknown)
    #expect(source.starts.value == 1)
    let stops = source.stops.value
    #expect(stops == 2, "once too early, once in the end")
    source.kernel.change { $0.removeDefaults(.ipv4) }
    #expect(monitor.snapshot.status == .unknown)
    source.beforeStart.withLock { $0 = nil }
  }

  @Test("Readings of a stopped source are ignored")
  func lateReading() throws {
    let sources = [Source(), Source()]
    let monitor = Self.monitor(sources)
    try monitor.start()
    monitor.stop()
    let late = try #require(sources[0].observer.value)
    let reading = KernelReading(
      tables: KernelTables(), answers: [:], uptime: .seconds(9999), time: Timestamp(microseconds: 0))
    #expect(late.ingest(reading) == nil)
    #expect(monitor.snapshot.status == .unknown)
    try monitor.start()
    let before = monitor.snapshot
    #expect(late.ingest(reading) == nil)
    late.kernelFailed(KernelError(operation: "recv", errno: 9, message: "Bad file descriptor"), at: reading.time)
    #expect(monitor.snapshot == before)
  }

  @Test("No lock is held while a source is made")
  func makingAsks() throws {
    let asked = Shared<ReachabilityMonitor?>(nil)
    let monitor = ReachabilityMonitor(kernel: {
      _ = asked.value?.snapshot
      asked.value?.stop()
      return ScriptedKernel(.wired)
    })
    asked.withLock { $0 = monitor }
    try monitor.start()
    #expect(monitor.snapshot.status == online)
    asked.withLock { $0 = nil }
  }

  @Test("D-03 concurrent restarts leave every read state valid")
  func readWhileRestarting() throws {
    let monitor = ReachabilityMonitor(kernel: ScriptedKernel(.wired))
    let wrong = Shared<[Snapshot]>([])
    onThreads(2) { thread in
      for _ in 0..<1000 {
        if thread == 0 {
          try? monitor.start()
          monitor.stop()
        } else {
          let snapshot = monitor.snapshot
          let isStopped = snapshot.machine == MachinePath(ipv4: .unknown(.starting), ipv6: .unknown(.starting))
          if snapshot.status != online, !isStopped { wrong.withLock { $0.append(snapshot) } }
        }
      }
    }
    #expect(wrong.value.isEmpty)
  }
}
