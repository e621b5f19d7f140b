internal import Locks
internal import ReachabilityModel

/// The source of kernel state that is in use, if any: the monitor starts and stops it, the engine refreshes it.
///
/// Its lock is taken before those of the names and of the engine, never while one of them is held.
final class ActiveKernelSource: Sendable {
  /// A source with its observer; both are stored, because a source is stopped for an observer.
  struct Running {
    let source: any KernelSource
    let generation: KernelSourceGeneration
    let latch = MonitorStartLatch()

    func stop() { source.stop(for: generation) }
  }

  private let running = Locked<Running?>(nil)

  /// The source in use; nil when there is none.
  var current: (any KernelSource)? { running.withLock { $0?.source } }

  func isCurrent(_ generation: KernelSourceGeneration) -> Bool { running.withLock { $0?.generation === generation } }

  /// Installs a new source with a new generation, unless there is a source.
  ///
  /// - Returns: the source in use, and whether it is new.
  func install(
    _ make: () -> any KernelSource, _ begin: () -> KernelSourceGeneration
  ) -> (running: Running, isNew: Bool) {
    if let running = running.withLock(\.self) { return (running, false) }
    let source = make()
    return running.withLock { running in
      if let running { return (running, false) }
      let new = Running(source: source, generation: begin())
      running = new
      return (new, true)
    }
  }

  /// Removes the source of a generation, unless another source has replaced it.
  func remove(_ generation: KernelSourceGeneration) {
    running.withLock { if $0?.generation === generation { $0 = nil } }
  }

  /// Removes the source and runs `body` in one critical section.
  func remove<Result>(_ body: () -> sending Result) -> (running: Running?, Result) {
    running.withLock { running in
      defer { running = nil }
      return (running, body())
    }
  }
}
